"""Cases that differ in their sizes, which are named by letters, and tensors of random numbers for them."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.evidence import case

Sizes = Sequence[int]


def sized(letters: str, by_ranks: Mapping[int, Sequence[Sizes]], grouped: Sizes) -> Callable[[int, int], list[Case]]:
    """A case for each of the sizes, as in ``sized("n m", {2: [(4, 7)]}, (4, 3))``; and ``grouped``, where there is a
    group that is not the world."""

    def cases(ranks: int, seed: int) -> list[Case]:
        rows = [(group, size) for group in groups(ranks) for size in ([grouped] if group else by_ranks[ranks])]
        named: list[tuple[Any, dict[str, Any]]]
        named = [(group, dict(zip(letters.split(), size, strict=True))) for group, size in rows]
        return [
            case(ranks, seed + i, group, ", ".join(f"{name} = {n}" for name, n in size.items()), **size)
            for i, (group, size) in enumerate(named)
        ]

    return cases


def of(case: Case, letters: str) -> tuple[int, ...]:
    """Its sizes: ``n, m = of(case, "n m")``."""
    return tuple(case.settings[name] for name in letters.split())


def nbytes(letters: str) -> Callable[[Case], int]:
    """Of a case's float64 tensor of these sizes: ``nbytes("n m")``."""
    return lambda case: 8 * prod(of(case, letters))


def normal(case: Case, *shapes: Sizes) -> list[Tensor]:
    """float64, alike on all ranks."""
    dice = generator(case, -1000)
    return [torch.randn(tuple(shape), generator=dice, dtype=torch.float64) for shape in shapes]
