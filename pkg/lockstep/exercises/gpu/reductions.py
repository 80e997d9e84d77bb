"""What the three exercises on sums of a vector have in common. They make the same additions by other threads, 128 in a
block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lockstep.checks.arrays import with_ones
from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence
from lockstep.checks.exercise import Costs, Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.wording import counted, listed
from lockstep.exercises.gpu.launches import ATOMICS, REQUESTS, Call, kernel, quarters, ran_of, rows, sizes

WARPS = 4  # of a block
ONES = (1, -1, 0.25)  # what every value is, in probes
CROSSING = 2  # rounds of a tree in which warps read what others wrote; in the others a warp is alone


def blocks(case: Case) -> int:
    return sizes(case)[1]


def atomics(each: int) -> Budget:
    """So many for each block."""
    return Budget(ATOMICS, lambda case: each * blocks(case), advice="Those on one address wait for each other.")


def reads(adding: int) -> Budget:
    """Each value once, and so many requests of a block to out[0]."""
    return Budget(REQUESTS, lambda case: sizes(case, 32)[0] + adding * blocks(case), at_most=1.5,
                  advice="Let each thread read its own element, so that a warp reads 32 at once.")  # fmt: skip


def call(case: Case) -> Call:
    n, blocks = sizes(case)
    return (blocks,), (32 * WARPS,), (quarters(case, 1, 2**12, n), np.zeros(1, np.float32))


def ones(values: Any, out: Any) -> list[tuple[Any, ...]]:
    """In place of each value 1, -1 and 0.25; then a 1 for those alone that a warp of block 0 has."""
    every = [(np.full(len(values), one, np.float32), out) for one in ONES]
    warps = [np.repeat(np.arange(WARPS) == warp, 32) for warp in range(WARPS)]
    rest = np.zeros(max(0, len(values) - 32 * WARPS))
    of_a_warp = [(np.concatenate((warp, rest)).astype(np.float32), out) for warp in warps]
    return every + of_a_warp * (len(values) >= 32 * WARPS)


def counted_ones(arguments: tuple[Any, ...], evidence: Evidence, at: tuple[int, ...]) -> str:
    """How many of the values reach the sum, and of which warps."""
    probed = evidence.get("probed", (None,))
    held = [one[0].item() for one in probed if one is not None]
    if len(held) < len(probed):
        return ""
    every, warps, n = held[: len(ONES)], held[len(ONES) :], len(arguments[0])
    wrong = next((pair for pair in zip(ONES, every, strict=True) if pair[1] != pair[0] * n), (1, every[0]))
    told = f"Where every value is {wrong[0]:g}, out[0] is {with_ones(wrong[1], wrong[0] * n)}."
    if not warps or wrong[0] != 1:
        return told
    of_each = listed([f"{warp:g}" for warp in warps])
    return f"{told} Where only the 32 values of one warp of block 0 are, it is {of_each}, by warps."


def not_its_own(seen: Seen) -> list[Fault]:
    """The cost of threads that read two elements, so that others have none: half of the grid is then for nothing."""
    n, blocks = sizes(seen.case)
    ran, own = ran_of(seen), min(32, n - 32 * WARPS * (blocks - 1))
    values = ran["names"][0]
    read = ran["last_warp"][values]
    told = (
        f"With {seen.case}, the first warp of the last block reads {counted(read, 'element')} of {values}, and "
        f"{counted(own, 'thread')} of it {'have' if own > 1 else 'has'} one. Let each thread read its own element, "
        "that of cuda.grid(1), and no other."
    )
    return [Fault("not-its-own", told)] if read != own else []


def reduction(costs: Costs, **fields: Any) -> Exercise:
    """An exercise on the sum of a vector, ``values``, into out[0]."""
    return kernel(
        aside=counted_ones,
        probes=ones,
        points=2,
        parameters="values, out",
        cases=rows(
            "n = {n} on a grid of {blocks} x 128 threads", "n blocks", (500, 4), (256, 2), (128, 1), (257, 3), (1, 1)
        ),
        call=call,
        wanted=lambda values, out: values.sum(keepdims=True),
        costs=replace(costs, economise=not_its_own),
        **fields,
    )
