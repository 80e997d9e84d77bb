"""Groups of different ranks that bear one name.

torch numbers the groups that a rank makes, and takes the third of one rank for the third of every other. Ranks that
belong to several groups must make them in the same order: else they meet the wrong ones under a number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from lockstep import explain
from lockstep.comm.operation import Operation
from lockstep.errors import Mismatch, Standing


def homonyms(logs: Sequence[Sequence[Operation]]) -> Mismatch | None:
    """The first two groups that do not fit, if any. ``logs``: the operations of each rank."""
    groups: dict[str, dict[tuple[int, ...], list[Operation]]] = defaultdict(lambda: defaultdict(list))
    for log in logs:
        for operation in log:
            groups[operation.group_name][operation.group].append(operation)
    for of_one_name in groups.values():
        for one, other in combinations(of_one_name.values(), 2):
            if at_once(one, other) and overlap(one, other) and not {o.rank for o in one} & {o.rank for o in other}:
                return explain.different_groups(called(one[0]), called(other[0]))
    return None


def at_once(one: Sequence[Operation], other: Sequence[Operation]) -> bool:
    """Whether two groups were used at the same time. Names begin anew when all ranks leave the world and come back."""
    return one[0].posted < ended(other) and other[0].posted < ended(one)


def overlap(one: Sequence[Operation], other: Sequence[Operation]) -> bool:
    """Whether some rank belongs to both groups. Those that have none in common do not meet (``adoption``)."""
    return not set(one[0].group).isdisjoint(other[0].group)


def ended(operations: Sequence[Operation]) -> float:
    return max(float("inf") if o.end is None else o.end for o in operations)


def called(operation: Operation) -> Standing:
    place = operation.place
    return Standing(operation.rank, "computing", f"called {operation}", str(place), place.source)
