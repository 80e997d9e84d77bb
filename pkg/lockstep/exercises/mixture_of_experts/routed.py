"""Tokens on their way to experts: cases with their sizes in their names, and budgets for their all-to-alls.

``tokens``   of each member of the group        ``k``      choices of a token
``each``     experts of a rank                  ``shut``   experts that nobody chooses
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case, generator
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import collectives, sent
from lockstep.checks.wording import listed
from lockstep.cost.experts import Loads, booked
from lockstep.events import COLLECTIVES
from lockstep.exercises.without_waiting.evidence import case

Tried = Mapping[int, Sequence[dict[str, Any]]]  # settings, by ranks
HINTS = (
    ("split_with_sizes expects", "all_to_all_single(out, given, output_split_sizes, input_split_sizes): the former add "
     "up to the rows of out, the latter to those of given. On the way back the two change places."),
    ("expected a non-empty list of Tensors", "torch.cat takes tensors without rows, too: leave none out."),
)  # fmt: skip
MOVING = set(COLLECTIVES) - {"barrier", "all_reduce"}


def case_of(ranks: int, seed: int, group: tuple[int, ...] | None = None, **settings: Any) -> Case:
    made = Case(ranks, seed, group, settings)
    told = [f"{listed(settings['tokens'])} tokens", f"{count(made)} experts", f"k={settings['k']}"]
    told += [f"capacity={settings['capacity']}"] if "capacity" in settings else []
    return case(ranks, seed, group, *told, **{"shut": (), **settings})


def cases(tried: Tried) -> Callable[[int, int], list[Case]]:
    """Those of so many ranks, as an Exercise wants them."""
    return lambda ranks, seed: [case_of(ranks, seed + n, **settings) for n, settings in enumerate(tried[ranks])]


def count(case: Case) -> int:
    """E, of all ranks together."""
    return int(case.settings["each"] * case.size)


def seat(case: Case, rank: int) -> int:
    """The rank in the group; one that is not in it never acts, and may have anything."""
    return case.members.index(rank) if rank in case.members else 0


def scores(case: Case, rank: int) -> Tensor:
    """Of one rank's tokens (T, E), float64. Many like the first expert that is not shut best; nobody a shut one."""
    E, shut = count(case), list(case.settings["shut"])
    found = torch.randn(case.settings["tokens"][seat(case, rank)], E, generator=generator(case, rank)).double()
    found[:, min(set(range(E)) - set(shut))] += 1
    found[:, shut] -= 100
    return found


def _moved(seen: Seen) -> float:
    """Bytes of whatever takes tokens to other ranks, of all ranks."""
    return sum(e.nbytes for e in collectives(seen.trace, MOVING)) + sum(sent(seen.trace).values())


def _others(seen: Seen) -> float:
    called = [e.rank for e in collectives(seen.trace, MOVING - {"all_to_all"})]
    return max(map(called.count, called), default=0)


def _reduced(seen: Seen) -> float:
    return sum(e.nbytes for e in collectives(seen.trace, {"all_reduce"})) / seen.case.size


MOVED = Measure(_moved, "byte", "all ranks' all-to-alls carry {}", "{} by all-to-alls", "bytes")
OTHERS = Measure(_others, "collective", "a rank gathers, scatters or broadcasts by {}", "{}", "other-collectives")
REDUCED = Measure(_reduced, "byte", "a rank's all-reduces carry {}", "{} by all-reduces", "reduced-bytes")


def exchanges(
    loads: Callable[[Case], Loads], *, width: int, number: int, formula: str, all_to_alls: int,
    reduced: Callable[[Case], int] | None = None,
) -> list[Budget]:  # fmt: skip
    """So many all-to-alls, of counts and of rows with ``width`` numbers of ``number`` bytes, and perhaps an all-reduce
    of ``reduced`` bytes."""

    def moved(case: Case) -> int:
        return sum(count.nbytes for count in booked(loads(case), width, number, backward=all_to_alls > 3))

    return [
        Budget(OTHERS, lambda case: 0, advice="Rows and counts travel by all-to-all."),
        Budget("collectives", lambda case: all_to_alls + (reduced is not None)),
        Budget("messages", lambda case: all_to_alls * (case.size - 1)),
        Budget(MOVED, moved, formula),
        Budget(REDUCED, reduced or (lambda case: 0)),
        Budget("barriers", lambda case: 0, advice="A collective says itself when it is done."),
    ]
