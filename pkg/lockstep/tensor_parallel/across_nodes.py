"""Why tensor parallelism stays inside a node: the same step of the same block, on two networks of the same GPUs.

    inside     all K ranks in one node: links between GPUs
    across     the same GPUs, each in a node of its own or a few in each: the network between nodes

Both send the same: four all-reduces of b·T·h numbers (``cost.tensor_parallel``). Nothing overlaps with them, since each
needs the product before it and the next product needs its result: the ranks idle. Data parallelism communicates once a
step, whatever the size of the batch, and overlaps it with the backward pass: so the slow links are for data
parallelism.

Measured by others: Narayanan et al., "Efficient large-scale language model training on GPU clusters", arXiv:2104.04473,
figure 13 (``data/megatron_sc21_figure13.csv``): with 64 A100 in nodes of 8, throughput is best with K = 8, and lower on
both sides: with more, tensor parallelism spans nodes; with fewer, the pipeline has more stages.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import torch

from lockstep.events import Outcome, Trace
from lockstep.machines import Cluster, find
from lockstep.models import Block
from lockstep.tables import Table, published
from lockstep.tally import counted
from lockstep.tensor_parallel.linear import PLAIN, Style
from lockstep.tensor_parallel.transformer import ParallelBlock
from lockstep.worlds import run

RANKS = 8
DGX = find("dgx-a100")


class Size(NamedTuple):
    """The size of a block in bfloat16: examples, positions, width, heads."""

    b: int = 1
    T: int = 2048
    h: int = 12288
    a: int = 96


GPT_3 = Size()


class Spent(NamedTuple):
    """A step of a block: seconds, those that rank 0 spent waiting for others, and the bytes that it all-reduced."""

    seconds: float
    waiting: float
    nbytes: int


def nodes_of(ranks: int, cluster: Cluster = DGX) -> Cluster:
    """The same devices and links, with ``ranks`` ranks in a node."""
    return replace(cluster, ranks_per_node=ranks)


def step(size: Size, style: Style = PLAIN) -> float:
    """Seconds of a forward and a backward pass on a rank."""
    block = ParallelBlock(Block(size.h, size.a, 0, 0, torch.bfloat16), style=style)
    x = torch.ones(size.b, size.T, size.h, dtype=torch.bfloat16, requires_grad=True)
    begin = time.perf_counter()
    block(x).sum().backward()
    return time.perf_counter() - begin


def spent(per_node: int, ranks: int = RANKS, size: Size = GPT_3, style: Style = PLAIN) -> Spent:
    """A step on ``ranks`` ranks, in nodes of ``per_node`` ranks."""
    done = stepped(per_node, ranks, size, style)
    mine = [e for e in done.trace.of_rank(0) if e.kind != "compute"]
    return Spent(done.values[0], sum(e.wait for e in mine), sum(e.nbytes for e in mine))


@cache
def stepped(per_node: int, ranks: int, size: Size, style: Style) -> Outcome:
    """Such a step, run once and cached. (No defaults: a cache takes a call with a default for a different call than
    the one that spells it out.)"""
    return run(step, size, style, ranks=ranks, on=nodes_of(per_node), fake=True)


class Passed(NamedTuple):
    """The events of a step, which begins at 0, and how many seconds it took."""

    trace: Trace
    time: float


def passed(per_node: int, ranks: int = RANKS, size: Size = GPT_3) -> Passed:
    """The step alone, without the construction of the layer before it."""
    done = stepped(per_node, ranks, size, PLAIN)
    return last_seconds(done, done.values[0])


def last_seconds(done: Outcome, seconds: float) -> Passed:
    """The last ``seconds`` of a run. An event that spans their begin is cut there."""
    begin = done.time - seconds
    shifted = [
        e._replace(start=max(0.0, e.start - begin), end=e.end - begin, posting=max(0.0, e.posted - begin))
        for e in done.trace
        if e.end > begin + 1e-9
    ]
    return Passed(replace(done.trace, events=tuple(shifted)), seconds)


def across_table(ranks: int = RANKS, size: Size = GPT_3) -> Table:
    """The same step in nodes of K, K/2, ... ranks, and on one rank."""
    alone = spent(ranks, 1, size)
    rows = [["one rank", "–", *_told(alone, alone)]]
    for per_node in counted(halved(ranks), "Simulating", each=1.5):
        rows.append([f"{ranks} ranks", str(per_node), *_told(spent(per_node, ranks, size), alone)])
    head = ["", "in a node", "ms", "standing still", "MB all-reduced", "times as fast as one"]
    title = f"A step of one layer, {size.b} x {size.T} tokens, {size.h} wide, bfloat16, on A100"
    return Table(title, head, rows)


def halved(n: int) -> list[int]:
    """n, n/2, ... 1."""
    return [n >> i for i in range(n.bit_length())]


def figure_13() -> Table:
    """Figure 13 as digitised: TFLOP/s a GPU by ranks of tensor parallelism, on 64 GPUs."""
    rows = published("tensor_parallel", "megatron_sc21_figure13.csv")
    batches = list(dict.fromkeys(row["series"] for row in rows))
    by = {(row["series"], row["x"]): row["y"] for row in rows}
    xs = list(dict.fromkeys(row["x"] for row in rows))
    cells = [[x.split(";")[1], x.split(";")[0], *(by[batch, x] for batch in batches)] for x in xs]
    title = "Figure 13 of arXiv:2104.04473: TFLOP/s a GPU, 162 billion parameters on 64 A100"
    return Table(title, ["tensor-parallel ranks", "stages", *batches], cells)


def _told(found: Spent, alone: Spent) -> list[str]:
    share = f"{found.waiting / found.seconds:.0%}"
    return [f"{1e3 * found.seconds:.2f}", share, f"{found.nbytes / 1e6:.0f}", f"{alone.seconds / found.seconds:.2f}"]
