"""Loops under a mask: a warp turns until its last lane is done. Lanes that were done earlier wait, switched off."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator

import numpy as np

from lockstep.simt.counts import LineCounts
from lockstep.simt.masks import NONE, Mask
from lockstep.simt.scope import Body, Compound, Evaluate
from lockstep.simt.values import Value
from lockstep.simt.warp import Arrival, Loop, Warp

TURNS = 30_000  # of one `while` in one warp: more than any lesson needs, and seconds. A `for` always ends.

Store = Callable[[Warp, Mask, Value], None]
Test = Callable[[Warp, Mask], Value]  # which lanes turn once more


def while_loop(line: LineCounts, test: Evaluate, body: Body) -> Compound:
    def run(warp: Warp, mask: Mask) -> Generator[Arrival, Value, Mask]:
        return (yield from _turns(warp, mask, line, lambda lanes: test(warp, lanes), body, None, TURNS))

    return run


def for_loop(line: LineCounts, put: Store, limits: list[Evaluate], body: Body) -> Compound:
    """``for x in range(start, stop, step)``; each lane may have limits of its own."""

    def run(warp: Warp, mask: Mask) -> Generator[Arrival, Value, Mask]:
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
    """``for x in (1, 2, 4)``: all lanes have the same turns."""

    def run(warp: Warp, mask: Mask) -> Generator[Arrival, Value, Mask]:
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
    most: int | None = None,
) -> Generator[Arrival, Value, Mask]:
    """Turn as long as ``test`` holds for any lane. Lanes leave by the test, by break or by return."""
    loop, done = Loop(), NONE
    warp.frame.loops.append(loop)
    for _ in itertools.count() if most is None else range(most):
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
    else:
        remedy = "Does its condition ever become false? A warp does not run on until another one writes something."
        raise line.refuse(f"this loop has turned {most:,} times in one warp and not ended.", remedy)
    warp.frame.loops.pop()
    return done | loop.broken
