"""Exercises on joblib's Parallel: the record of a call, and the rules for what its workers were given."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any

from lockstep.checks.case import Case, Inputs
from lockstep.checks.exercise import Exercise, Feedback, Run, Values, Watch
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.transport import encoded
from lockstep.checks.wording import counted
from lockstep.exercises.scikit_learn.called import called
from lockstep.exercises.scikit_learn.fits import Fits
from lockstep.exercises.scikit_learn.joblib_tasks import recorded

Answer = dict[str, Any]  # what a watch wrote down of one call
Rule = Callable[[Any, Answer], Fault | None]  # what is wrong with the answer to a call
Note = Callable[[tuple[Any, ...], Any, Fits], Answer]  # of the arguments and the result: its "value", and what else

REFUSED = {  # by Handed.refused
    "value": ("called-at-once", "Parallel was handed no task but {}: you called your function yourself, one call after "
              "the other, and nothing is left for the workers. Write delayed(f)(x), not f(x) and not delayed(f(x)): "
              "delayed writes the call down for a worker."),
    "function": ("called-at-once", "delayed was handed {}, not a function: what should be done by a worker is done "
                 "already. Write delayed(f)(x): the function's name without brackets comes first."),
    "no arguments": ("never-called", "Parallel was handed delayed({0}), which is no task yet: it has no arguments. Put "
                     "them behind it, in brackets of their own: delayed({0})(...)."),
    "one task": ("one-task", "Parallel was handed one task, or a bare function. It wants a list of tasks, or a "
                 "generator of them: Parallel(n_jobs=n_jobs)(delayed(f)(x) for x in ...)."),
    "stuck": ("cannot-be-copied", "a task cannot be copied to another process: it holds, or its function names, {}. "
              "Give it only numbers, arrays, estimators and functions, and let it return its result: tasks in "
              'processes share nothing, so they need no lock. With prefer="threads" nothing is copied.'),
    "stuck result": ("cannot-be-copied", "what a task returns cannot be copied back from another process: it holds {}. "
                     "Return numbers, arrays or estimators. (A function with yield in it returns a generator.)"),
}  # fmt: skip
HINTS = (
    ("crashed:TimeLimit", "If it stands where Parallel is called, a task does not end: a loop in it never stops, or it "
     "waits for what nobody gives it, such as a lock that another task has taken and not released (write `with "
     "lock:`)."),
    (r"PicklingError(.|\n)*\b(Pool|pool)\b", "That is a pool of multiprocessing. Hand the tasks to joblib: "
     "Parallel(n_jobs=n_jobs)(delayed(f)(x) for x in ...)."),
)  # fmt: skip


def on_workers(
    *, case: str, task: str, tasks: Callable[[Any], int], inputs: Inputs, watch: Watch, wrong: Rule, **fields: Any
) -> Exercise:
    """An exercise of one case, with that name and several calls. ``wrong``: what is wrong with the value of a call. It
    could be divided into ``tasks(call)`` tasks at least; ``task`` is the noun for one."""

    def faults(seen: Seen, rule: Rule) -> list[Fault]:
        found = [(a, rule(call, a)) for call, a in zip(inputs(seen.case, 0), seen.returned[0], strict=True)]
        return [replace(f, message=f"With n_jobs={a['n_jobs']}: {f.message}") for a, f in found if f]

    def misdone(call: Any, answer: Answer) -> Fault | None:
        return misused(answer) or wrong(call, answer)

    def unused(seen: Seen) -> list[Fault]:
        return faults(seen, lambda call, a: wasted(a, tasks(call), task) if a["n_jobs"] > 1 else None)

    exercise = Exercise(
        cases=lambda ranks, seed: [Case(1, seed, settings={"told": case})],
        inputs=inputs,
        points=3,
        worlds=(1,),
        pure=True,
        values=Values(
            examine=lambda seen: next(iter(faults(seen, misdone)), None),
            may_change=("estimator.values",),  # a rule of its exercise tells why not, and what to do
        ),
        run=Run(
            watch=watch,
            watch_known=watch,
            real_machine=True,
            preload=("sklearn.model_selection", "sklearn.tree"),
            timeout=15.0,  # importing sklearn takes several of them on a busy machine
        ),
        feedback=Feedback(hints=HINTS),
        **fields,
    )
    return replace(
        exercise, costs=replace(exercise.costs, economise=unused), comparison=replace(exercise.comparison, alike=alike)
    )


def alike(seen: Seen) -> list[Any]:
    return [answer["value"] for answer in seen.returned[0]]


def observed(
    fn: Callable[..., Any],
    arguments: Callable[[], tuple[Any, ...]],
    note: Note,
    n_jobs: int,
    watching: AbstractContextManager[Fits] | None = None,
    numbers: bool = False,
) -> Answer:
    """What ``fn`` gives, and hands to its workers. It is called again: is its value "unused" of them, the same when all
    tasks return what the first one did? And where they work on ``numbers``, is it "unmoved", the same when they get
    others? Not where threads share an estimator: nobody takes turns the second time, and they would kill the
    process."""
    with recorded() as handed, watching or nullcontext(Fits()) as fits:
        given = arguments()
        result, ended = called(fn, given, lambda: handed.explains or fits.contested > 1)
    answer: Answer = {"n_jobs": n_jobs, "calls": handed.calls, "refused": handed.refused}
    answer |= {"lost": handed.lost, "silent": handed.silent, "fits": fits.counts, "contested": fits.contested}
    answer |= note(given, result, fits)
    twice = ended and n_jobs > 1 and handed.calls and fits.contested <= 1
    with suppress(Exception), recorded(alike=True):  # whoever stumbles over these results has used them
        given = arguments()
        again = note(given, fn(*given), Fits()) if twice else {"value": None}
        answer["unused"] = encoded(again["value"]) == encoded(answer["value"])
    with suppress(Exception), recorded(other=True) as handed:
        given = arguments()
        again = note(given, fn(*given), Fits()) if twice and numbers else {"value": None}
        answer["unmoved"] = bool(handed.others) and encoded(again["value"]) == encoded(answer["value"])
    return {"unused": False, "unmoved": False, **answer}


def misused(answer: Answer) -> Fault | None:
    """What Parallel was handed that is no task; who else called it."""
    if answer["refused"]:
        kind, what = answer["refused"]
        return Fault(REFUSED[kind][0], REFUSED[kind][1].format(what))
    library = next((call["by"] for call in answer["calls"] if call["by"].startswith("sklearn.")), "")
    told = f"Parallel is called by {library}, and not by you. Here you write it yourself: make the list of tasks."
    return Fault("library-call", told) if library else None


def lost(answer: Answer, what: str) -> Fault | None:
    """Tasks in processes that return nothing. ``what`` they should return."""
    told = "your tasks return nothing. They run in other processes: what they write into a list, dict or array of "
    return Fault("shared-list", f"{told}yours is lost. Return {what}.") if answer["lost"] else None


def wasted(answer: Answer, tasks: int, noun: str) -> Fault | None:
    """None if one call of Parallel got ``tasks`` tasks or more, with ``n_jobs`` workers, and these did the work."""
    calls, (inside, every, fitting) = answer["calls"], answer["fits"]
    largest = max(calls, key=lambda call: (call["tasks"], call["n_jobs"]), default={"n_jobs": 1, "tasks": 0})
    workers, most = counted(largest["n_jobs"], "worker"), counted(largest["tasks"], "task")
    silent = answer["silent"] and every  # threads may write their results where they are seen
    rules = (
        (not calls, "serial", "nothing was handed to joblib: Parallel(n_jobs=n_jobs)(delayed(f)(...) for ...)."),
        (largest["n_jobs"] != answer["n_jobs"], "ignores-n_jobs", f"you call Parallel with {workers}: hand n_jobs on, "
         "Parallel(n_jobs=n_jobs)."),
        (largest["tasks"] < tasks and len(calls) > 1, "barriers", f"you call Parallel {len(calls)} times, with at most "
         f"{most} each. Each call waits for its slowest task. Make one list of tasks, one for each {noun}, and call "
         "Parallel once."),
        (largest["tasks"] < tasks, "too-coarse", f"you hand out {most} where there could be {tasks}, one for each "
         f"{noun}. Small tasks keep all workers busy to the end, whichever of them is slow."),
        (len(calls) > 1, "calls-twice", f"you call Parallel {len(calls)} times: the second call cannot begin before "
         "the slowest task of the first has ended. One call is enough: let each task do all that there is to do for "
         f"its {noun}."),
        (every > inside, "called-at-once", f"{every - inside} of {every} fits were done by the caller, in no task. "
         "A worker does only what is in the function that delayed gets. What stands in a task's brackets, before "
         "Parallel or after it, the caller does. Put the fit into that function."),
        (every and fitting < tasks, "idle-tasks", f"of {most} that you hand out, {fitting} did all the fits. Give each "
         f"task its own {noun} to fit."),
        (answer["unused"] and not silent, "not-by-messages", "your result stays the same when every task returns what "
         "the first one did: it is not made of what the workers send back. Compute with what Parallel returns."),
        (answer["unmoved"], "not-by-workers", "your result stays the same when the tasks get other numbers than you "
         "hand to them: the caller computes it. Put the computation into the function that delayed gets."),
    )  # fmt: skip
    return next((Fault(id, told) for holds, id, told in rules if holds), None)
