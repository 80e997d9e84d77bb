"""How a run that raised a RunError becomes facts: a `Failure`, in whichever world it was."""

from __future__ import annotations

from dataclasses import replace

from lockstep.checks.observation import Failure
from lockstep.checks.wording import LONGER, counted
from lockstep.comm import exits
from lockstep.errors import RankState, RunError

HANGS = ("Stuck", "TimeLimit")
BUILTIN = "builtins"
FEW = 10  # runs that a test makes for each program


def failure_of(error: RunError, limit: float) -> Failure:
    """``limit``: the seconds that the run was given."""
    states = tuple(map(_done_with_its_case, error.states))
    stands = next((s for s in states if s.where), RankState(0, ""))
    failure = Failure(
        type(error).__name__, error.message, states, error.remedy, where=stands.where, source=stands.source, limit=limit
    )
    end = error.exit
    if end is None:
        return failure
    if end.kind != "raised":
        return replace(failure, ended=exits.reason(end))
    return replace(
        failure,
        exception=end.exception if end.module in ("", BUILTIN) else f"{end.module}.{end.exception}",
        bases=end.bases,
        text=end.message,
        told=end.told,
        origin=end.origin,
        stated=end.stated,
        where=str(end.place),
        source=end.place.source,
    )


def _done_with_its_case(state: RankState) -> RankState:
    """A rank that waits in the mark between two cases, a broadcast, is, for the learner, done with its case. One that
    waits for anything else where no line is the learner's is in a backward pass, which the check began."""
    if state.state != "waiting" or state.where or state.kind not in ("", "broadcast"):
        return state
    return replace(state, state="finished", operation="", waits_for=())


def without_ranks(failure: Failure, call: str) -> Failure:
    """The failure of an exercise whose learner need not have heard of ranks. ``call`` is what was under way."""
    if failure.exception:
        name = failure.exception.rpartition(".")[2]
        return replace(failure, message=f"{call} raised {name}: {failure.text}\n{failure.told}")
    if failure.ended:
        stop = "" if failure.ended.endswith("?") else "."
        return replace(failure, message=f"{call} ended its process, which {failure.ended}{stop}", states=())
    if failure.kind not in HANGS:
        return failure
    stood = f" It stood at {failure.where}: {failure.source}" if failure.where else ""
    given = f"{failure.limit:.2g}"
    seconds = f"{given} second{'s' if given != '1' else ''}"
    remedy = f"Either a loop never ends, or {LONGER}"
    return replace(failure, message=f"{call} did not end within {seconds}.{stood}", states=(), remedy=remedy)


def of_a_test(failure: Failure, runs: int, call: int, calls: int, hangs: bool) -> Failure:
    """The failure, `without_ranks`, of a learner's test that ran out of time: how many runs it has made says why.
    ``calls``: on as many programs it is tried, in that time, which was over in ``call``; ``hangs``: whether one call
    took most of it."""
    if failure.kind not in HANGS or not runs:
        return failure
    each = f"about {failure.limit / runs:.1g} seconds each"
    if hangs and runs <= FEW * call:
        told = f"It had called run() {counted(runs, 'time')}. Either a loop never ends, or {LONGER}"
        return replace(failure, remedy=told, paced=True)
    if hangs:
        made = f"Until then it had called run() {counted(runs, 'time')}, {each}."
        return replace(failure, remedy=f"{made} Are those too many? If not, a loop may never end.", paced=True)
    told = (
        f"{failure.limit:.2g} seconds were left for the {calls} calls of your test, one for each program. "
        f"They were over in call {call}. It had called run() {counted(runs, 'time')}, {each}."
    )
    remedy = "Make fewer runs, or shorter ones. If they are few and short, this machine is busy: check again later."
    return replace(failure, message=told, remedy=remedy, paced=True)
