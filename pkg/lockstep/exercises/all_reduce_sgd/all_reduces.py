"""Budgets for exercises that need all-reduces: how many, and of how many bytes, by collectives or by messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import collectives, sent
from lockstep.events import COLLECTIVES


def _travels(seen: Seen) -> float:
    """Bytes of the all-reduces that as much travels in. Gathers, broadcasts and the like are half of one, and all
    messages of one by hand are 2(K-1) times its bytes."""
    of_rank: Counter[int] = Counter()
    for event in collectives(seen.trace, set(COLLECTIVES) - {"barrier"}):
        of_rank[event.rank] += event.nbytes * (2 if event.kind == "all_reduce" else 1)
    by_hand = sum(sent(seen.trace).values()) / max(1, seen.case.size - 1)
    return (max(of_rank.values(), default=0) + by_hand) / 2


TRAVELS = Measure(_travels, "byte", "as much travels as in all-reduces of {}", "all-reduces of {}", "bytes")


def one(case: Case) -> int:
    return 1


def all_reduces(nbytes: Callable[[Case], float], number: Callable[[Case], int] = one) -> tuple[Budget, Budget]:
    """``number`` all-reduces of ``nbytes`` each."""
    return Budget("collectives", number), Budget(TRAVELS, lambda case: number(case) * nbytes(case))
