"""A cluster of two kinds of GPU: GPT-3 on 48 A100 and 48 H100, by formula and simulated.

    equal layers       one pipeline of 12 stages, 8 layers each: 6 stages on A100, then 6 on H100
    layers by speed    the same stages, with layers by the speed of their kind
    a pipeline each    two copies of the model on 6 stages of 16 layers, an A100's and an H100's, with micro-batches by
                       speed

An H100 is simulated as an A100 that is so many times as fast as a layer is on it by the planner; all have the network
of a DGX A100. Of the two copies each is simulated by itself, and the slower one counts, without the sum of gradients,
which the planner's number has. The simulations take a minute or two, so they are recorded:

    python -m lockstep.experiments.hybrid.two_kinds > pkg/lockstep/experiments/hybrid/data/two_kinds.csv
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from lockstep.experiments.hybrid.by_hand import BATCH, GPT3, GRID
from lockstep.hybrid.published_steps import MACHINE
from lockstep.hybrid.simulated_step import simulate_step
from lockstep.machines import Cluster
from lockstep.planner import clusters, models, stacks, two_kinds
from lockstep.planner.plans import Job, Plan
from lockstep.planner.two_kinds import Pace
from lockstep.tables import Table, published
from lockstep.tally import counted

KINDS, STACK = ("dgx-a100", "dgx-h100"), stacks.STACKS["megatron-2022"]
STAGES, TP, NODES, LAYERS = 12, 8, 12, 96


class Way(NamedTuple):
    """``layout``: layers of each stage; ``shares``: micro-batches of each pipeline; ``h100``: which stages have H100s;
    with two pipelines, the second one's."""

    name: str
    layout: tuple[int, ...]
    shares: tuple[int, ...]
    h100: tuple[int, ...]


@cache
def paces(pp: int = STAGES, dp: int = 1) -> tuple[Pace, Pace]:
    """Of an A100 and of an H100, on a network of A100s."""
    a100, h100 = (clusters.find(f"{kind} x {NODES}") for kind in KINDS)
    slow = replace(h100, between=a100.between, inside=a100.inside, inside_share=a100.inside_share, switch_sums=False)
    plan = Plan(dp=dp, tp=TP, pp=pp, zero=0, recompute="full")
    first, second = (two_kinds.pace(Job(models.find("gpt3"), kind, BATCH), plan, STACK) for kind in (a100, slow))
    return first, second


def faster() -> float:
    """How many times as fast as on an A100 a layer is on an H100."""
    slow, fast = paces()
    return slow.layer / fast.layer


def ways() -> list[Way]:
    half, every = tuple(range(STAGES // 2, STAGES)), tuple(range(STAGES))
    even = (LAYERS // STAGES,) * STAGES
    mixed = two_kinds.layout_by_speed(kinds(half), LAYERS)
    alone = [pace.layer for pace in paces(STAGES // 2, 2)]
    return [
        Way("A100 only, equal layers", even, (BATCH,), ()),
        Way("half H100, equal layers", even, (BATCH,), half),
        Way("half H100, layers by speed", mixed, (BATCH,), half),
        Way("half H100, a pipeline each", (LAYERS * 2 // STAGES,) * (STAGES // 2),
            two_kinds.shares_by_speed(alone, STAGES // 2, BATCH), every),
        Way("H100 only, equal layers", even, (BATCH,), every),
    ]  # fmt: skip


def kinds(h100: Sequence[int]) -> list[Pace]:
    slow, fast = paces()
    return [fast if stage in h100 else slow for stage in range(STAGES)]


def planned(way: Way) -> float:
    """Seconds of a step by formula."""
    if len(way.shares) == 1:
        return two_kinds.across(kinds(way.h100), way.layout, BATCH)
    both = paces(STAGES // 2, 2)
    return max(
        two_kinds.across([pace] * len(way.layout), way.layout, m) for pace, m in zip(both, way.shares, strict=True)
    )


def simulated(way: Way) -> float:
    """Seconds of a step on the simulated cluster."""
    if len(way.shares) == 1:
        grid = replace(GRID, layout=way.layout)
        return simulate_step(GPT3, grid, 1, BATCH, on=with_h100(way.h100)).time
    grid = replace(GRID, pp=len(way.layout))
    every = ((), range(len(way.layout)))
    each = [simulate_step(GPT3, grid, 1, m, on=with_h100(h100)).time for m, h100 in zip(way.shares, every, strict=True)]
    return max(each)


def with_h100(stages: Sequence[int]) -> Cluster:
    """A100s, on whose nodes of these stages each rank is as much faster as an H100."""
    cluster = MACHINE
    for rank in (TP * stage + seat for stage in stages for seat in range(TP)):
        cluster = cluster.with_rank(rank, speed=faster())
    return cluster


def recorded() -> dict[str, float]:
    """Simulated seconds by the way's name."""
    return {row["way"]: float(row["seconds"]) for row in published("experiments/hybrid", "two_kinds.csv")}


def two_kinds_table(full: bool = False) -> Table:
    rows, found = [], {} if full else recorded()
    for way in counted(ways(), "Simulating", each=15.0) if full else ways():
        seconds = simulated(way) if full else found[way.name]
        rows.append([
            way.name, in_short(way.layout), " + ".join(map(str, way.shares)),
            f"{planned(way):.2f} s", f"{seconds:.2f} s",
        ])  # fmt: skip
    head = ["96 GPUs", "layers of each stage", "micro-batches", "planned", "simulated"]
    return Table(f"GPT-3, {BATCH} sequences, all layers recomputed: two kinds of GPU, one {faster():.1f} times as fast",
                 head, rows)  # fmt: skip


def in_short(layout: Sequence[int]) -> str:
    """(4, 4, 9) as "2 x 4, 1 x 9"."""
    runs: list[list[int]] = []
    for n in layout:
        if runs and runs[-1][1] == n:
            runs[-1][0] += 1
        else:
            runs.append([1, n])
    return ", ".join(f"{times} x {n}" for times, n in runs)


if __name__ == "__main__":
    print("way,seconds")
    for one in ways():
        print(f'"{one.name}",{simulated(one):.4f}', flush=True)
