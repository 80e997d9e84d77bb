"""Loops under a mask: a warp iterates until its last lane is done. Lanes that are done earlier wait, switched off."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from lockstep.simt.interpreter.scope import Body, Compound, Evaluate
from lockstep.simt.lane_values import Value
from lockstep.simt.masks import NONE, Mask
from lockstep.simt.profile import LineCounts
from lockstep.simt.race_detection.spinning import State
from lockstep.simt.warp import Loop, Spin, Stop, Warp

TURNS = 300_000  # iterations of a `while` in one warp that all change something: many seconds. A `for` always ends.
QUIET = 4  # turns before a loop is suspected of waiting: most end sooner

Store = Callable[[Warp, Mask, Value], None]
Test = Callable[[Warp, Mask], Value]  # which lanes iterate once more


def while_loop(line: LineCounts, test: Evaluate, body: Body, deciding: frozenset[str]) -> Compound:
    """A ``while`` loop. ``deciding``: the variables that determine whether it ends."""

    def run(warp: Warp, mask: Mask) -> Generator[Stop, Value, Mask]:
        suspect = Suspect(warp, line, deciding)
        left = yield from _turns(warp, mask, line, lambda lanes: test(warp, lanes), body, None, suspect)
        warp.suspects -= suspect.turns >= QUIET
        return left

    return run


class Suspect:
    """A ``while`` that may be waiting for another thread."""

    def __init__(self, warp: Warp, line: LineCounts, deciding: frozenset[str]) -> None:
        self.warp = warp
        self.line = line
        self.deciding = deciding
        self.turns = 0
        self.state: State | None = None
        self.idle = False

    def spins(self, mask: Mask, left: Mask) -> Spin | None:
        """At the top of a turn: the lanes that are to turn, those that have left."""
        self.turns += 1
        if self.turns > TURNS:
            told = f"this loop has turned {TURNS:,} times in one warp and not ended."
            raise self.line.refuse(told, "Does its condition ever become false?")
        if self.turns < QUIET:
            return None
        self.warp.suspects += self.turns == QUIET
        before, self.state = self.state, State.of(self.warp, mask, self.deciding)
        was_idle, self.idle = self.idle, before is not None and before.same(self.state)
        return Spin(self.line, mask, left, not was_idle) if self.idle else None


def for_loop(line: LineCounts, put: Store, limits: list[Evaluate], body: Body) -> Compound:
    """``for x in range(start, stop, step)``; each lane may have limits of its own."""

    def run(warp: Warp, mask: Mask) -> Generator[Stop, Value, Mask]:
        start, stop, step = _range([limit(warp, mask) for limit in limits], mask, line)
        rising = step > 0
        at = [start - step]

        def test(lanes: Mask) -> Value:
            at[0] = at[0] + step
            if isinstance(rising, np.ndarray):
                return np.where(rising, at[0] < stop, at[0] > stop)
            return at[0] < stop if rising else at[0] > stop

        return (yield from _turns(warp, mask, line, test, body, lambda lanes: put(warp, lanes, at[0])))

    return run


def tuple_loop(line: LineCounts, put: Store, values: Evaluate, body: Body) -> Compound:
    """``for x in (1, 2, 4)``: all lanes have the same iterations."""

    def run(warp: Warp, mask: Mask) -> Generator[Stop, Value, Mask]:
        items = values(warp, mask)
        at = [-1]

        def test(lanes: Mask) -> Value:
            at[0] += 1
            return np.bool_(at[0] < len(items))

        return (yield from _turns(warp, mask, line, test, body, lambda lanes: put(warp, lanes, items[at[0]])))

    return run


def _range(limits: list[Value], mask: Mask, line: LineCounts) -> tuple[Value, Value, Value]:
    if any(not hasattr(limit, "dtype") or limit.dtype.kind not in "iu" for limit in limits):
        raise line.refuse("range takes whole numbers.", "Use // to divide them, or int(…).")
    start = limits[0] if len(limits) > 1 else np.int64(0)
    step = limits[2] if len(limits) > 2 else np.int64(1)
    if np.any((step == 0) & mask.lanes):
        raise line.refuse("range cannot go in steps of 0.")
    stop = limits[0] if len(limits) == 1 else limits[1]
    return start.astype(np.int64), stop.astype(np.int64), step.astype(np.int64)


def _turns(
    warp: Warp,
    mask: Mask,
    line: LineCounts,
    test: Callable[[Mask], Value],
    body: Body,
    begin: Callable[[Mask], None] | None,
    suspect: Suspect | None = None,
) -> Generator[Stop, Value, Mask]:
    """Iterate as long as ``test`` is true for any lane. Lanes leave by the test, by break or by return."""
    loop, done = Loop(), NONE
    warp.frame.loops.append(loop)
    while True:
        if suspect is not None and (spin := suspect.spins(mask, done | loop.broken)) is not None:
            yield spin
        go, stop = mask.split(test(mask))
        warp.issue(line, mask)
        if go.count and stop.count:
            line.divergences += 1
        done = done | stop
        if not go.count:
            break
        if begin is not None:
            begin(go)
        mask = (yield from body(warp, go)) | loop.continued
        loop.continued = NONE
        if not mask.count:
            break
    warp.frame.loops.pop()
    return done | loop.broken
