"""What the exercises on joblib's Parallel share: the sentences on what was handed to its workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Inputs
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.wording import counted
from lockstep.classical.tasks import Handed

Answer = dict[str, Any]  # what a watch wrote down of one call
Rule = Callable[[Any, Answer], Fault | None]  # what is wrong with the answer to a call

REFUSED = {  # by Handed.refused
    "value": ("called-at-once", "Parallel was handed no task but {}: you called your function yourself, one call after "
              "the other, and nothing is left for the workers. Write delayed(f)(x), not f(x) and not delayed(f(x)): "
              "delayed writes the call down for a worker."),
    "function": ("called-at-once", "delayed was handed {}, not a function: what should be done by a worker is done "
                 "already. Write delayed(f)(x): the function's name without brackets comes first."),
    "no arguments": ("never-called", "Parallel was handed delayed({}), which is no task yet: it has no arguments. Put "
                     "them behind it, in brackets of their own: delayed({0})(...)."),
    "one task": ("one-task", "Parallel was handed one task, or a bare function. It wants a list of tasks, or a "
                 "generator of them: Parallel(n_jobs=n_jobs)(delayed(f)(x) for x in ...)."),
    "stuck": ("cannot-be-copied", "a task cannot be copied to another process: it holds, or its function names, {}. "
              "Give it only numbers, arrays, estimators and functions, and let it return its result: tasks in "
              'processes share nothing, so they need no lock. With prefer="threads" nothing is copied.'),
    "stuck result": ("cannot-be-copied", "what a task returns cannot be copied back from another process: it holds {}. "
                     "Return numbers, arrays or estimators. (A function with yield in it returns a generator.)"),
}  # fmt: skip
_WAITS = (
    "If it stands where Parallel is called, a task does not end: a loop in it never stops, or it waits for what nobody "
    "gives it, such as a lock that another task has taken and not released (write `with lock:`)."
)
HINTS = (
    ("crashed:TimeLimit", _WAITS),
    ("crashed:Stuck", _WAITS),
    (r"PicklingError(.|\n)*\b(Pool|pool)\b", "That is a pool of multiprocessing. Hand the tasks to joblib: "
     "Parallel(n_jobs=n_jobs)(delayed(f)(x) for x in ...)."),
)  # fmt: skip


def watching(one: Callable[[Callable[..., Any], Any], Answer]) -> Callable[..., list[Answer]]:
    """What ``one(fn, call)`` writes down of each call, up to the first that does not come to its end."""

    def watch(fn: Callable[..., Any], calls: tuple[Any, ...]) -> list[Answer]:
        answers: list[Answer] = []
        for call in calls:
            answers.append(one(fn, call))
            if not answers[-1]["ended"]:
                break
        return answers

    return watch


def called(fn: Callable[..., Any], arguments: Any, explained: Callable[[], bool]) -> tuple[Any, bool]:
    """What ``fn`` returns, and whether it did: not where it raised, and what was written down explains that."""
    try:
        return fn(*arguments), True
    except Exception as error:
        if isinstance(error, NotImplementedError) or not explained():
            raise
        return None, False


def facts(handed: Handed, ended: bool, n_jobs: int) -> Answer:
    return {"n_jobs": n_jobs, "calls": handed.calls, "refused": handed.refused, "lost": handed.lost, "ended": ended}


def examining(inputs: Inputs, rule: Rule) -> Callable[[Seen], Fault | None]:
    """The first fault of a call: what is no task, or what ``rule`` finds."""

    def examine(seen: Seen) -> Fault | None:
        for call, answer in zip(inputs(seen.case, 0)[0], seen.returned[0][0], strict=False):
            fault = misused(answer) or rule(call, answer)
            if fault:
                return Fault(fault.misconception, f"With n_jobs={answer['n_jobs']}: {fault.message}")
        return None

    return examine


def economising(inputs: Inputs, rule: Rule) -> Callable[[Seen], list[Fault]]:
    """The same of costs; with one worker there are none."""
    examine = examining(inputs, lambda call, answer: rule(call, answer) if answer["n_jobs"] > 1 else None)
    return lambda seen: [fault for fault in [examine(seen)] if fault]


def misused(answer: Answer) -> Fault | None:
    """What Parallel was handed that is no task; who else called it."""
    if answer["refused"]:
        id, told = REFUSED[answer["refused"][0]]
        return Fault(id, told.replace("{0}", "{}").replace("{}", answer["refused"][1]))
    library = next((call["by"] for call in answer["calls"] if call["by"].startswith("sklearn.")), "")
    told = f"Parallel is called by {library}, and not by you. Here you write it yourself: make the list of tasks."
    return Fault("library-call", told) if library else None


def lost(answer: Answer, what: str) -> Fault | None:
    """Tasks in processes that return nothing. ``what`` they should return."""
    told = "your tasks return nothing. They run in other processes: what they write into a list, dict or array of "
    return Fault("shared-list", f"{told}yours is lost. Return {what}.") if answer["lost"] else None


def handed_out(answer: Answer, tasks: int, noun: str) -> Fault | None:
    """None if one call of Parallel got ``tasks`` tasks or more, with ``n_jobs`` workers. ``noun`` names a task."""
    calls = answer["calls"]
    if not calls:
        return Fault("serial", "nothing was handed to joblib: Parallel(n_jobs=n_jobs)(delayed(f)(...) for ...).")
    largest = max(calls, key=lambda call: (call["tasks"], call["n_jobs"]))
    if largest["n_jobs"] != answer["n_jobs"]:
        told = (
            f"you call Parallel with {counted(largest['n_jobs'], 'worker')}: hand n_jobs on, Parallel(n_jobs=n_jobs)."
        )
        return Fault("ignores-n_jobs", told)
    if largest["tasks"] >= tasks:
        return None
    if len(calls) > 1:
        told = (
            f"you call Parallel {len(calls)} times, with at most {counted(largest['tasks'], 'task')} each. Each call "
        )
        advice = f"waits for its slowest task. Make one list of tasks, one for each {noun}, and call Parallel once."
        return Fault("barriers", told + advice)
    told = f"you hand out {counted(largest['tasks'], 'task')} where there could be {tasks}, one for each {noun}. "
    return Fault("too-coarse", f"{told}Small tasks keep all workers busy to the end, whichever of them is slow.")


def done_by_caller(answer: Answer, needed: int) -> Fault | None:
    """Fits that no worker did, by ``answer["fits"]``: [in tasks, in all]."""
    inside, every = answer["fits"]
    told = (
        f"{every - inside} of {every} fits were done by the caller, in no task. What stands in the brackets of a task "
        "is computed at once, before any worker begins: put the fit into the function that delayed gets."
    )
    return Fault("called-at-once", told) if inside < needed else None
