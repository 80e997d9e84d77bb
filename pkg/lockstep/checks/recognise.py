"""Which known wrong answers behave like a learner's? They are run on the same inputs, on a virtual cluster.

    alike in values    every rank holds the same in every case, and a run that fails ends in the same way
    alike in the dye   the same mistake, turned round: the profiles are equal
    alike in cost      the values are right, and messages, bytes, peers and rounds are the same in every case

If one fits, the learner reads its sentence; if two do, both, joined by "or". If three or more do, nobody knows which
of the mistakes it is, and none is named.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.argument_changes import Change
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.known import Known
from lockstep.checks.observation import Seen
from lockstep.checks.observe import home, observe, observe_each
from lockstep.checks.plain import Other
from lockstep.checks.traffic import collectives, messages, rounds
from lockstep.checks.unchanged_arguments import SPOILS, not_allowed
from lockstep.checks.values import result
from lockstep.errors import LockstepError

MOST = 2  # that are named
MANY = 4000  # runs that are kept
LIMIT = 10.0  # seconds for all comparisons
CLOSE = 1e-9
ROUNDED = 2**-46  # 64 times what float64 rounds by: a whole number of 13 digits is not its neighbour


def alike_in_values(exercise: Exercise, known: Sequence[Known], seen: Sequence[Seen]) -> list[Known]:
    """Those that give the same in each of these cases. Where that says little, since every rank has what it had, their
    messages must be the same, too."""
    left = _filtered(exercise, known, seen, partial(_same_values, exercise))
    if len(left) > 1 or all(says_little(exercise, mine) for mine in seen):
        closer = _filtered(exercise, left, seen, partial(_same_footprint, exercise))
        if closer or all(says_little(exercise, mine) for mine in seen):
            return closer
    return left


def alike_in_cost(exercise: Exercise, known: Sequence[Known], seen: Sequence[Seen]) -> list[Known]:
    """Those whose values are the same, which are right, and that send as much."""
    return _filtered(exercise, known, seen, partial(_same_in_all, exercise))


def right_in_the_same(exercise: Exercise, known: Known, seen: Sequence[Seen], right: Callable[[Seen], bool]) -> bool:
    """Whether a known answer is right in these cases where mine is, and wrong where mine is."""
    theirs = _in_all(exercise, known, [mine.case for mine in seen])
    return all(other and right(other) == right(mine) for mine, other in zip(seen, theirs, strict=True))


def told_of(fitting: Sequence[Known], seen: Seen) -> tuple[str, str] | None:
    """The misconception and the sentence, for this run, of one or two; None of none, or of more. Variants of a mistake
    count once."""
    kinds = {(k.misconception, k.tell): k for k in fitting}
    variants = {name for k in kinds.values() for name in k.variants}
    apart = [k for k in kinds.values() if k.name not in variants] or list(kinds.values())[:1]
    if not 1 <= len(apart) <= MOST:
        return None
    return apart[0].misconception, " Or: ".join(k.told(seen) for k in apart)


def _filtered(
    exercise: Exercise, known: Sequence[Known], seen: Sequence[Seen], same: Callable[[Seen, Seen], bool]
) -> list[Known]:
    """The first case leaves few, which are then looked at in all others."""
    if exercise.run.watch_known:
        run = replace(exercise.run, watch=exercise.run.watch_known, real_machine=False)
        exercise = replace(exercise, run=run)
    until = time.monotonic() + LIMIT
    first, *rest = seen
    there = _in_one_run(exercise, known, first.case)
    left = [k for k, theirs in there.items() if theirs and same(first, theirs)]
    for k in list(left):
        theirs = _in_all(exercise, k, [mine.case for mine in rest]) if time.monotonic() < until else [None]
        if not all(other and same(mine, other) for mine, other in zip(rest, theirs, strict=False)):
            left.remove(k)
    return left


Key = tuple[str, Known, int, str]
_seen_before: dict[Key, Seen | None] = {}  # the same cases come again with the next attempt


def key_of(exercise: Exercise, known: Known, case: Case) -> Key:
    return exercise.id, known, known.path.stat().st_mtime_ns, repr(case)


def _in_one_run(exercise: Exercise, known: Sequence[Known], case: Case) -> dict[Known, Seen | None]:
    """What each known answer does in a case; None where it cannot be tried."""
    if len(_seen_before) > MANY:
        _seen_before.clear()
    new = [k for k in known if key_of(exercise, k, case) not in _seen_before]
    for k, seen in zip(new, _watch(exercise, new, case), strict=True):
        _seen_before[key_of(exercise, k, case)] = seen
    return {k: _seen_before[key_of(exercise, k, case)] for k in known}


def _watch(exercise: Exercise, known: Sequence[Known], case: Case) -> list[Seen | None]:
    """In one run; where it fails, in halves, until the one that fails is alone."""
    if not known:
        return []
    if len(known) == 1 or exercise.run.real_machine or exercise.run.jitter:  # what is measured is measured alone
        return [seen for k in known for seen in _in_all(exercise, k, [case])]
    try:
        return list(observe_each(exercise, [k.load(exercise.function) for k in known], case))
    except LockstepError:
        half = len(known) // 2
        return _watch(exercise, known[:half], case) + _watch(exercise, known[half:], case)


def _in_all(exercise: Exercise, known: Known, cases: Sequence[Case]) -> list[Seen | None]:
    """What a known answer does in each case."""
    new = [case for case in cases if key_of(exercise, known, case) not in _seen_before]
    if new:
        try:
            observation = observe(exercise, known.load(exercise.function), home(exercise), cases=new)
            found = {key_of(exercise, known, seen.case): seen for seen in observation}
        except LockstepError:
            found = {}
        _seen_before.update(dict.fromkeys((key_of(exercise, known, case) for case in new), None) | found)
    return [_seen_before[key_of(exercise, known, case)] for case in cases]


# ---- what is the same


def _same_in_all(exercise: Exercise, mine: Seen, theirs: Seen) -> bool:
    return _same_footprint(exercise, mine, theirs) and _same_values(exercise, mine, theirs)


def _same_values(exercise: Exercise, mine: Seen, theirs: Seen) -> bool:
    if mine.failure or theirs.failure:
        return bool(mine.failure and theirs.failure and mine.failure.kind == theirs.failure.kind)
    if spoilt(exercise, mine) != spoilt(exercise, theirs):
        return False
    if exercise.comparison.alike:
        return _same(exercise.comparison.alike(mine), exercise.comparison.alike(theirs))
    return all(_same(result(mine, rank), result(theirs, rank)) for rank in judged(exercise, mine.case))


def spoilt(exercise: Exercise, seen: Seen) -> set[Change]:
    """Which arguments are spoilt, on whatever rank. Who also leaves a hook or a flag may make the same mistake."""
    return {change for _, change in not_allowed(exercise, seen) if change.what in SPOILS}


def judged(exercise: Exercise, case: Case) -> list[int]:
    """The members whose result counts: of a reduce the root."""
    if exercise.pure or exercise.values.wanted is None:
        return list(case.members)
    return [rank for rank, want in zip(case.members, exercise.values.wanted(case), strict=True) if want is not None]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.dtype == b.dtype == torch.float64 and a.shape == b.shape:
            return torch.allclose(a, b, rtol=ROUNDED, atol=0.0, equal_nan=True)  # one mistake in another order
        alike = a.dtype == b.dtype and a.shape == b.shape
        return alike and bool(((a == b) | (a.isnan() & b.isnan())).all())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, Other) and isinstance(b, Other):
        return a.type == b.type
    if isinstance(a, float) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=CLOSE, abs_tol=1e-300) or (math.isnan(a) and math.isnan(b))
    return bool(type(a) is type(b) and a == b)


def says_little(exercise: Exercise, seen: Seen) -> bool:
    """Whether every rank has what it had before, or nothing: so much comes of many mistakes."""
    if exercise.pure or seen.failure:
        return False
    for rank in judged(exercise, seen.case):
        held, given = result(seen, rank), [*exercise.inputs(seen.case, rank), None][0]
        own = isinstance(held, Tensor) and isinstance(given, Tensor) and torch.equal(held, given)
        if not own and not (isinstance(held, Tensor) and not held.any()):
            return False
    return True


def _same_footprint(exercise: Exercise, mine: Seen, theirs: Seen) -> bool:
    failed = mine.failure or theirs.failure  # what an exercise looks at, such a run may not have
    of = footprint if failed else exercise.comparison.footprint or footprint
    return bool(of(mine) == of(theirs))


def footprint(seen: Seen) -> Any:
    """What a run sent, its ranks in no order: of each the messages and bytes in and out and the number of peers; the
    rounds; the collectives."""
    found = messages(seen.trace)
    ranks = []
    for rank in seen.case.members:
        out, into = [m for m in found if m.source == rank], [m for m in found if m.target == rank]
        peers = len({m.target for m in out} | {m.source for m in into})
        ranks.append((sorted(m.nbytes for m in out), sorted(m.nbytes for m in into), peers))
    return sorted(ranks), rounds(seen.trace), Counter(e.kind for e in collectives(seen.trace))
