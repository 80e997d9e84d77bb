"""A pipeline whose stages shard their weights over the replicas: what ZeRO's stages send over dp, and what they hold.

    m micro-batches, N numbers of a stage, K replicas; an all-gather or a reduce-scatter sends (K-1)/K·N of them

    stage 0, 1    2            one sum of the gradients a step
    stage 2       m + 1        they are scattered for each micro-batch, and weights gathered after the update
    stage 3       3·m          a layer is gathered for each pass, forward and backward (``hybrid.sharded_weights``)

A step of a GPT of eight layers is simulated with each (``simulate_step``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from lockstep.experiments.hybrid.placed import bytes_sent
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.simulated_step import simulate_step
from lockstep.tables import Table
from lockstep.tally import counted

MODEL, MICRO_BATCHES = GPTSize(8, 1024, 16, 512, 1024, 0.0, "flash", "bfloat16"), 4
STAGES = {0: "nothing", 1: "optimizer (ZeRO 1)", 3: "optimizer, gradients, weights (ZeRO 3)"}


class Sharded(NamedTuple):
    """In a step: bytes that rank 0 sends over dp, and the peak of the fullest rank."""

    sent: float
    peak: int


@cache
def sharded(zero: int, micro_batches: int = MICRO_BATCHES) -> Sharded:
    grid = Grid(dp=2, pp=2, zero=zero, recompute="full")
    step = simulate_step(MODEL, grid, 1, micro_batches)
    dp = grid.group("dp", 0)
    sent = sum(bytes_sent(e) for e in step.trace.of_rank(0) if e.group == dp)
    return Sharded(sent, max(step.peak_memory))


def times_as_many(zero: int = 3, micro_batches: int = MICRO_BATCHES) -> float:
    """As many bytes over dp as without ZeRO."""
    return sharded(zero, micro_batches).sent / sharded(0, micro_batches).sent


def sharded_table(stages: Sequence[int] = tuple(STAGES)) -> Table:
    rows = []
    for zero in counted(stages, "Simulating", each=1.5):
        found = sharded(zero)
        rows.append([
            STAGES[zero], f"{found.sent / 1e6:,.0f} MB", f"{times_as_many(zero):.1f}",
            f"{found.peak / 1e6:,.0f} MB",
        ])  # fmt: skip
    head = ["sharded over dp", "sent over dp", "times as many", "peak of a rank"]
    return Table(f"pp 2 · dp 2, {MICRO_BATCHES} micro-batches, a step simulated", head, rows)
