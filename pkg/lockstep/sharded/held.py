"""What a function needs besides its arguments while it runs: for the checks, which see no more than that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lockstep.residency import peak_of


def held_beside(fn: Callable[..., Any], given: Sequence[Any]) -> tuple[Any, int]:
    """What ``fn(*given)`` gives, and the most bytes of tensors that were alive at once beside those before."""
    with peak_of(given) as memory:
        before = memory().peak
        return fn(*given), memory().peak - before
