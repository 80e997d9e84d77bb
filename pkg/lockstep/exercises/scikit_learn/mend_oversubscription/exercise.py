"""Too many threads, to be mended: judged by the threads and the fits that there are at once, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.checks.wording import counted
from lockstep.classical.room import Fit, Room
from lockstep.classical.tasks import recorded
from lockstep.exercises.scikit_learn.alive import drawn
from lockstep.exercises.scikit_learn.workers import HINTS, called, facts, misused

SETTINGS = ((4, 4), (2, 8), (9, 4), (5, 8), (3, 8), (1, 4))  # fits, cores


def cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": f"{counted(fits, 'fit')} on {cores} cores", "fits": fits, "cores": cores})
            for fits, cores in SETTINGS]  # fmt: skip


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """What each fit returns: not in order, so that a list in the order of ending is told from one in order."""
    return ((([(case.seed + 37 * i * i) % 101 for i in range(case.settings["fits"])], case.settings["cores"]),),)


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    ((results, cores),) = call
    room = Room(len(results), cores)
    fits = [Fit(room, result) for result in results]
    with recorded() as handed:
        returned, ended = called(fn, (fits, cores), lambda: bool(room.misused or handed.refused or 0 in room.asked))
    return {
        **facts(handed, ended, 0), "returned": plain(returned), "misused": room.misused,
        "history": room.history[:1000], "asked": room.asked[:1000], "fits": room.most_fits,
    }  # fmt: skip


def examine(seen: Seen) -> Fault | None:
    fault = results(seen) or too_many(seen)
    return fault and Fault(fault.misconception, f"With {seen.case}: {fault.message}")


def results(seen: Seen) -> Fault | None:
    (((right, _),),), (answer,) = inputs(seen.case, 0), seen.returned[0]
    returned, asked = answer["returned"], answer["asked"]
    if answer["refused"] and answer["refused"][0] == "stuck":
        return Fault("needs-threads", "these fits are objects of this process and cannot be sent to another one. They "
                     'release the GIL: hand them to threads, Parallel(n_jobs=..., prefer="threads").')  # fmt: skip
    if answer["misused"]:
        return Fault("fraction-of-a-thread", f"you call fit({answer['misused']}). A number of threads is a whole "
                     "number: divide by //, which rounds down.")  # fmt: skip
    if 0 in asked:
        return Fault("no-threads", "you call a fit with 0 threads: cores // fits is 0 when there are more fits than "
                     "cores. Then only as many fits as cores run at once, with 1 thread each.")  # fmt: skip
    if misused(answer):
        return misused(answer)
    if len(asked) != len(right):
        return Fault("skips-fits", f"{counted(len(asked), 'fit')} were called, not {len(right)}. Call each once.")
    if not isinstance(returned, list):
        return Fault("wrong-type", f"a list of the fits' results is wanted; this is {told(returned)}.")
    if returned != right:
        order = len(returned) == len(right) and all(r in returned for r in right)
        which = "the right results, in another order than the fits" if order else told(returned)
        return Fault(
            "unordered" if order else "wrong-results", f"you return {which}. Return the result of each, in order."
        )
    return None


def too_many(seen: Seen) -> Fault | None:
    """What the exercise is about: as long as there are too many threads, nothing is mended."""
    (answer,), cores = seen.returned[0], seen.case.settings["cores"]
    alive, most = max(answer["history"]), max(answer["asked"])
    if alive <= cores:
        return None
    each = f"up to {most} threads" if most > 1 else "1 thread"
    told = f"{alive} threads were alive at once; {counted(answer['fits'], 'fit')} ran at once, with {each} each."
    return Fault("oversubscribed", f"{told} Fits at once, times the threads of each, must not exceed the cores.")


def economise(seen: Seen) -> list[Fault]:
    """Idle cores: fewer threads, or fewer fits, than there could be at once."""
    (answer,), fits, cores = seen.returned[0], seen.case.settings["fits"], seen.case.settings["cores"]
    outer = min(fits, cores)
    alive, inner = max(answer["history"]), cores // outer
    begin = f"With {seen.case}, at most {counted(answer['fits'], 'fit')} ran at once, with {counted(alive, 'thread')} "
    if alive < outer * inner:
        told = f"in all. {counted(outer, 'fit')} could run at once, with {counted(inner, 'thread')} each."
        return [Fault("idle-cores", begin + told)]
    if answer["fits"] < outer:
        told = (
            f"in all; {outer} could. Fits need nothing of each other; the threads inside a fit wait for one another. "
        )
        return [Fault("one-at-a-time", f"{begin}{told}Share the cores among the fits first.")]
    return []


def picture(seen: Seen) -> str:
    (answer,) = seen.returned[0]
    return drawn(answer["history"], seen.case.settings["cores"], str(seen.case))


EXERCISE = Exercise(
    number=5,
    title="Mend the oversubscription",
    points=2,
    minutes=15,
    core=False,
    kind="mend",
    parameters="fits, cores",
    reference="lockstep.classical.nested:mend_oversubscription",
    cases=cases,
    inputs=inputs,
    watch=watch,
    examine=examine,
    economise=economise,
    hints=HINTS,
    worlds=(1,),
    pure=True,
    real=True,
    picture=picture,
)
