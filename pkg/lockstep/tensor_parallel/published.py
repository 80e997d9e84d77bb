"""The Transformer layer of Korthikanti et al., run without data, compared with their formulas and their times.

    b, T, h, a, K    examples, positions (their s), width, heads, ranks (their t)

Theirs differs from this course's block in what attention keeps: scores as a matrix of T x T for each head, with
dropout; and a dropout after attention and after the MLP. In bfloat16, as theirs, a layer keeps (1) what their equations
say, to the byte, and a few numbers that they leave out: mean and deviation of each norm, and the mask of the future.

Its time (2) is from the virtual cluster, of 8 A100. Theirs is from fused kernels on real ones: Table 4.
Source: "Reducing Activation Recomputation in Large Transformer Models", arXiv:2205.05198.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.cost.tensor_parallel import published_activations
from lockstep.models import Block
from lockstep.residency import peak_of
from lockstep.tables import Table, published
from lockstep.tally import counted
from lockstep.tensor_parallel.dropout import Dropout, Streams
from lockstep.tensor_parallel.linear import PLAIN, Style
from lockstep.tensor_parallel.sequence import SEQUENCE
from lockstep.tensor_parallel.transformer import ParallelBlock
from lockstep.worlds import run

RATE = 0.1
BF16 = torch.bfloat16


class Size(NamedTuple):
    """The size of a layer: examples, positions, width, heads, ranks."""

    b: int = 4
    T: int = 2048
    h: int = 6144
    a: int = 64
    K: int = 8


GPT_22B = Size()  # Table 3: 48 such layers, 8 GPUs, 4 examples


class Scores(nn.Module):
    """The core of attention as it was before fused kernels: (b, heads, T, d) three times, to the same shape."""

    def __init__(self, drop: nn.Module) -> None:
        super().__init__()
        self.drop = drop

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (b, heads, T, T)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu_(1)
        out: Tensor = self.drop(scores.masked_fill(future, -math.inf).softmax(-1)) @ value
        return out


def layer(size: Size, style: Style, index: int) -> ParallelBlock:
    """This rank's part of their layer number ``index``. Heads are always divided; positions are with ``SEQUENCE``."""
    streams = Streams(index)
    between = streams.everywhere if style == PLAIN else streams.parts
    block = Block(size.h, size.a, 0, index, BF16)
    return ParallelBlock(block, None, style, Scores(Dropout(RATE, streams.parts)), Dropout(RATE, between))


def kept(size: Size, style: Style, layers: int) -> int:
    """On a rank: the peak bytes of activations in the forward pass."""
    model = nn.Sequential(*(layer(size, style, index) for index in range(layers)))
    with peak_of(model) as memory:
        model(given(size, style))
        return memory().peaks["activations"]


def a_layer(size: Size, style: Style) -> float:
    """(1) for a layer, from two runs: how much a second layer adds."""
    one, two = (run(kept, size, style, n, ranks=size.K, on="dgx-a100", fake=True).values[0] for n in (1, 2))
    return float(two - one)


def step(size: Size, style: Style) -> tuple[float, float]:
    """On a rank: seconds of a layer's forward pass, and of its backward pass."""
    model, x = layer(size, style, 0), given(size, style)
    begin = time.perf_counter()
    out = model(x)
    between = time.perf_counter()
    out.backward(torch.ones_like(out))
    return between - begin, time.perf_counter() - between


def given(size: Size, style: Style) -> Tensor:
    T = size.T if style == PLAIN else size.T // dist.get_world_size()
    return torch.ones(size.b, T, size.h, dtype=BF16, requires_grad=True)


def activations_table(size: Size = GPT_22B) -> Table:
    """(1) compared with equations 1, 2 and 4."""
    ways = {"one rank": (1, PLAIN), "tensor": (size.K, PLAIN), "tensor, sequence": (size.K, SEQUENCE)}
    rows = []
    for name, (K, style) in counted(ways.items(), "Running", each=2.0):
        formula = published_activations(*size._replace(K=K), sequence=style == SEQUENCE)
        traced = a_layer(size._replace(K=K), style)
        rows.append([name, str(K), f"{formula / 1e6:,.1f}", f"{traced / 1e6:,.1f}", f"{traced / formula - 1:+.1%}"])
    head = ["", "ranks", "MB, published", "MB, by trace", "differs by"]
    sizes = f"{size.b} x {size.T} tokens, {size.h} wide, {size.a} heads"
    return Table(f"What a rank keeps of one layer in bfloat16: {sizes}", head, rows)


def times_table() -> Table:
    """(2) compared with Table 4's rows without recomputation, in milliseconds."""
    rows = []
    for row in published("tensor_parallel", "korthikanti_table4_layer_times.csv"):
        style = {"baseline no recompute": PLAIN, "sequence parallelism": SEQUENCE}.get(row["experiment"])
        if style is not None:
            done = run(step, GPT_22B, style, ranks=GPT_22B.K, on="dgx-a100", fake=True)
            cells = [cell for kind, seconds in zip(("forward", "backward"), done.values[0], strict=True)
                     for cell in (row[f"{kind}_ms"], f"{1e3 * seconds:.1f}")]  # fmt: skip
            rows.append([row["experiment"], *cells])
    head = ["", "forward, published", "simulated", "backward, published", "simulated"]
    return Table("One layer of the 22B model on 8 A100, milliseconds", head, rows)
