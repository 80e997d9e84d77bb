"""Too many threads, to be mended: judged by the threads and the fits that there are at once, and by nothing else."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.checks.wording import counted
from lockstep.exercises.scikit_learn.called import called
from lockstep.exercises.scikit_learn.joblib_tasks import recorded
from lockstep.exercises.scikit_learn.room import Fit, Room
from lockstep.exercises.scikit_learn.threads_alive import drawn
from lockstep.exercises.scikit_learn.workers import HINTS, misused

SETTINGS = ((4, 4), (2, 8), (9, 4), (5, 8), (3, 800), (1, 4))  # fits, cores; once more than machines have


def results(case: Case) -> list[int]:
    """Of the fits: not in order, so that a list in the order of ending differs from one in order."""
    return [(case.seed + 37 * i * i) % 101 for i in range(case.settings["fits"])]


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    ((right, cores),) = call
    room = Room(len(right), cores)
    with recorded() as handed:
        returned, *_ = called(fn, ([Fit(room, r) for r in right], cores), lambda: bool(room.misused or handed.refused))
    return {"returned": plain(returned), "refused": handed.refused, "calls": handed.calls, "misused": room.misused,
            "history": [0, *room.history[:1000]], "asked": [0, *room.asked[:1000]], "fits": room.most_fits}  # fmt: skip


def told_results(returned: Any, right: list[int]) -> str:
    """What is wrong with the results, of which some are."""
    asked = "return a list with the result of each fit, in the order of the fits."
    if not isinstance(returned, list) or len(returned) != len(right):
        return f"you return {told(returned)} for {counted(len(right), 'fit')}: {asked}"
    if Counter(map(repr, returned)) == Counter(map(repr, right)):
        return f"you return all results, in another order: {asked}"
    n = next((n for n, (mine, its) in enumerate(zip(returned, right, strict=True)) if mine != its), 0)
    return f"for fit {n} you return {told(returned[n])}, and it returned {right[n]}: {asked}"


def examine(seen: Seen) -> Fault | None:
    """What the exercise is about comes last: as long as there are too many threads, nothing is mended."""
    (answer,), right, cores = seen.returned[0], results(seen.case), seen.case.settings["cores"]
    returned, (_, *asked), alive = answer["returned"], answer["asked"], max(answer["history"])
    each, at_once = counted(max(answer["asked"]), "thread"), counted(answer["fits"], "fit")
    no_task = misused(answer)
    rules = (
        (answer["refused"][:1] == ["stuck"], "needs-threads", "these fits are objects of this process and cannot be "
         'sent to another one. They release the GIL: hand them to threads, Parallel(n_jobs=..., prefer="threads").'),
        (answer["misused"], "no-number-of-threads", f"you call fit({answer['misused']}). A number of threads is whole, "
         "as from //, and at least 1. With more fits than cores, as many as cores run at once, with 1 thread each."),
        (no_task, no_task and no_task.misconception, no_task and no_task.message),
        (len(asked) != len(right), "skips-fits", f"{counted(len(asked), 'fit')} were called, not {len(right)}. Call "
         "each once."),
        (returned != right, "wrong-results", told_results(returned, right)),
        (alive > cores, "oversubscribed", f"{alive} threads were alive at once; {at_once} ran at once, with up to "
         f"{each} each. Fits at once, times the threads of each, must not exceed the cores."),
    )  # fmt: skip
    return next((Fault(str(id), f"With {seen.case}: {said}") for holds, id, said in rules if holds), None)


def economise(seen: Seen) -> list[Fault]:
    """Idle cores: fewer threads, or fewer fits, than there could be at once."""
    (answer,), cores = seen.returned[0], seen.case.settings["cores"]
    alive, outer = max(answer["history"]), min(seen.case.settings["fits"], cores)
    fits, inner = counted(outer, "fit"), counted(cores // outer, "thread")
    ran = f"{counted(answer['fits'], 'fit')} ran at once, with {counted(alive, 'thread')} in all"
    rules = (
        (alive < outer * (cores // outer), "idle-cores", f"{fits} could run at once, with {inner} each."),
        (answer["fits"] < outer, "one-at-a-time", f"{fits} could. Fits need nothing of each other; the threads inside "
         "a fit wait for one another. Share the cores among the fits first."),
    )  # fmt: skip
    return [Fault(id, f"With {seen.case}, at most {ran}; {said}") for holds, id, said in rules if holds]


EXERCISE = Exercise(
    cases=lambda ranks, seed: [
        Case(1, seed, settings={"told": f"{counted(fits, 'fit')} on {cores} cores", "fits": fits, "cores": cores})
        for fits, cores in SETTINGS
    ],
    inputs=lambda case, rank: (((results(case), case.settings["cores"]),),),
    number=5,
    title="Mend the oversubscription",
    points=2,
    minutes=15,
    core=False,
    kind="mend",
    parameters="fits, cores",
    reference="lockstep.classical.nested:mend_oversubscription",
    worlds=(1,),
    pure=True,
    values=Values(examine=examine),
    costs=Costs(economise=economise),
    run=Run(watch=watch, real_machine=True),
    feedback=Feedback(
        picture=lambda seen: drawn(seen.returned[0][0]["history"], seen.case.settings["cores"], str(seen.case)),
        hints=HINTS,
    ),
)
