"""``mend_oversubscription``: judged by the threads and the fits that are alive at once, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.plain import plain
from lockstep.checks.scikit_learn.alive import drawn
from lockstep.checks.scikit_learn.handed import named
from lockstep.checks.values import told

POINTS = 2
SETTINGS = ((4, 4), (2, 8), (9, 4), (3, 8), (1, 4))  # fits, cores


def _cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": "1 to 9 fits on 4 or 8 cores"})]


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple((fits, cores, case.seed % 100) for fits, cores in SETTINGS)


def _results(fits: int, seed: int) -> list[int]:
    """What each fit returns: not in order, so that a list in the order of ending is told from one in order."""
    return [(seed + 37 * i * i) % 101 for i in range(fits)]


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    from lockstep.checks.scikit_learn.room import Fit, Room
    from lockstep.checks.scikit_learn.tasks import recorded

    fits, cores, seed = arguments
    room = Room(fits, cores)
    with recorded():
        returned = fn([Fit(room, result) for result in _results(fits, seed)], cores)
    counted = {"history": room.history[:1000], "asked": room.asked[:1000], "fits": room.most_fits}
    return {"returned": plain(returned), **counted}


def _examine(seen: Seen) -> Fault | None:
    for (fits, cores, seed), answer in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        fault = _one(fits, _results(fits, seed), answer) or _too_many(cores, answer)
        if fault:
            return Fault(fault.misconception, f"With {_setting(fits, cores)}: {fault.message}")
    return None


def _one(fits: int, right: list[int], answer: dict[str, Any]) -> Fault | None:
    returned, asked = answer["returned"], answer["asked"]
    if any(n < 1 for n in asked):
        return Fault("no-threads", "you call a fit with 0 threads: cores // fits is 0 when there are more fits than "
                     "cores. Then only as many fits as cores run at once, with 1 thread each.")  # fmt: skip
    if len(asked) != fits:
        return Fault("skips-fits", f"{len(asked)} fits were called, not {fits}. Call each of them once.")
    if not isinstance(returned, list):
        return Fault("wrong-type", f"a list of the fits' results is wanted; this is {told(returned)}.")
    if returned == right:
        return None
    if len(returned) == len(right) and all(r in returned for r in right):
        return Fault("unordered", "these are the right results, in another order than the fits.")
    return Fault("wrong-values", f"you return {told(returned)}; wanted is the result of each fit, in order.")


def _too_many(cores: int, answer: dict[str, Any]) -> Fault | None:
    """What the exercise is about: as long as there are too many threads, nothing is mended."""
    alive, most = max(answer["history"], default=0), max(answer["asked"])
    if alive <= cores:
        return None
    each = f"up to {most} threads" if most > 1 else "1 thread"
    told = f"{alive} threads were alive at once; fits were called with {each} each."
    return Fault("oversubscribed", f"{told} Fits at once, times the threads of each, must not exceed the cores.")


def _setting(fits: int, cores: int) -> str:
    return f"{fits} fit{'s' if fits > 1 else ''} on {cores} cores"


def _within_reach(fits: int, cores: int) -> int:
    """Threads at once with as many fits at once as possible, and the same number of threads for each."""
    outer = min(fits, cores)
    return outer * (cores // outer)


def _cost(seen: Seen) -> list[Fault]:
    for (fits, cores, _), answer in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        alive = max(answer["history"], default=0)
        if alive < _within_reach(fits, cores):
            threads = "1 thread was" if alive == 1 else f"{alive} threads were"
            message = (
                f"With {_setting(fits, cores)}, never more than {threads} alive at once: the other cores had nothing "
                f"to do. {_idle(fits, cores, max(answer['asked']))}"
            )
            return [Fault("idle-cores", message)]
        if answer["fits"] < min(fits, cores):
            ran = "1 fit ran" if answer["fits"] == 1 else f"{answer['fits']} fits ran"
            message = (
                f"With {_setting(fits, cores)}, never more than {ran} at once, with up to {max(answer['asked'])} "
                f"threads each. {min(fits, cores)} could. Fits side by side need nothing of each other; the threads "
                "inside a fit wait for one another. Share the cores among the fits first."
            )
            return [Fault("one-at-a-time", message)]
    return []


def _idle(fits: int, cores: int, inner: int) -> str:
    if inner == 1 and fits < cores:
        return "There are fewer fits than cores: give each fit several threads."
    return "Run min(fits, cores) fits at once, and share the cores among them."


def _picture(seen: Seen) -> str:
    """The threads alive in the worst of the learner's calls."""
    rows = list(zip(_calls(seen.case, 0), seen.returned[0], strict=False))
    if not rows:
        return ""
    (fits, cores, _), answer = max(rows, key=lambda row: max(row[1]["history"], default=0) / row[0][1])
    return drawn(answer["history"], cores, _setting(fits, cores))


def _judge(observation: Observation) -> list[Finding]:
    return named(mark(observation, POINTS, _examine, _cost), observation)


OVERSUBSCRIPTION = Exercise(
    id="scikit_learn.mend_oversubscription",
    title="Mend the oversubscription",
    points=POINTS,
    minutes=15,
    parameters="fits, cores",
    cases=_cases,
    inputs=_calls,
    judge=_judge,
    reference="lockstep.classical.nested:mend_oversubscription",
    worlds=(1,),
    pure=True,
    watch=_watch,
    real=True,
    picture=_picture,
)
