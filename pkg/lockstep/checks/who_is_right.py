"""Which ranks hold what is wanted, in a run where others do not."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lockstep.checks.exercise import Exercise
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import forgiven
from lockstep.checks.values import result
from lockstep.checks.wording import listed


def who_is_right(exercise: Exercise, seen: Seen) -> str:
    """As in "Ranks 1 and 2 are right."; nothing, where all are or none is. Those that should have zeros don't count."""
    if exercise.pure or exercise.values.wanted is None:
        return ""
    wanted = zip(seen.case.members, exercise.values.wanted(seen.case), strict=True)
    asked = [(rank, want) for rank, want in wanted if want is not None and _counts(want)]
    right = [rank for rank, want in asked if _is_right(seen, rank, want, exercise.values.tolerance)]
    if not 0 < len(right) < len(asked):
        return ""
    return f"Rank {right[0]} is right." if len(right) == 1 else f"Ranks {listed(right)} are right."


def _counts(want: Any) -> bool:
    """Nobody can be wrong about no elements, and by many a mistake zeros stay zeros: half of the gradient, say."""
    some = [w for w in (want if isinstance(want, tuple) else (want,)) if w is not None and w.numel()]
    return bool(some) and all(bool(w.any()) for w in some)


def _is_right(seen: Seen, rank: int, want: Any, tolerance: float) -> bool:
    """Of one tensor, or of a tuple of them."""
    wanted = want if isinstance(want, tuple) else (want,)
    held = seen.returned[rank] if isinstance(want, tuple) else [result(seen, rank)]
    if not isinstance(held, list) or len(held) != len(wanted):
        return False
    return all(_same(value, forgiven(value, w, tolerance)) for value, w in zip(held, wanted, strict=True))


def _same(value: Any, want: Tensor | None) -> bool:
    return want is None or (isinstance(value, Tensor) and value.dtype == want.dtype and torch.equal(value, want))
