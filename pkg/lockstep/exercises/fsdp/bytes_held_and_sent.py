"""Measures for sharding: the bytes that a rank holds and those that it sends; and layers of K unequal shards."""

from collections import Counter
from collections.abc import Callable, Iterable

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import collectives, sent
from lockstep.events import COLLECTIVES
from lockstep.residency import BESIDES, SMALL
from lockstep.sharded.flat import shard_length

FLOAT = 4  # bytes


def held(seen: Seen) -> list[int]:
    """Of each member of the group the most bytes at once, besides its arguments."""
    return [seen.memory[rank]["peak"] for rank in seen.case.members]


def besides(seen: Seen, rank: int) -> str:
    """What of it is no tensor, in a sentence; "" for none."""
    found = [f"{seen.memory[rank].get(kind, 0):,} {kind}" for kind in BESIDES if seen.memory[rank].get(kind, 0) > SMALL]
    return f" Of these, it keeps {' and '.join(found)}: they count as tensors do." if found else ""


def travels(seen: Seen) -> float:
    """Bytes that the busiest rank sends: of a gather or a scatter (K-1)/K of the whole, of an all-reduce twice that."""
    K, of_rank = seen.case.size, Counter(sent(seen.trace))
    for event in collectives(seen.trace, set(COLLECTIVES) - {"barrier"}):
        of_rank[event.rank] += (2 if event.kind == "all_reduce" else 1) * event.nbytes * (K - 1) // K
    return max(of_rank.values(), default=0)


HELD = Measure(lambda seen: max(held(seen)), "byte", "a rank holds {} besides its arguments", "{} held", "held")
SENT = Measure(travels, "byte", "a rank sends {}", "{} a rank", "bytes")


def shards(numels: Iterable[int], K: int) -> int:
    """Bytes of one rank's shards of layers of ``numels`` numbers."""
    return FLOAT * sum(shard_length(N, K) for N in numels)


def traffic(*, times: float, numels: Callable[[Case], list[int]], formula: str, advice: str = "") -> Budget:
    """Each layer gathered or scattered so many ``times``."""
    return Budget(SENT, lambda case: times * (case.size - 1) * shards(numels(case), case.size), formula, advice=advice)
