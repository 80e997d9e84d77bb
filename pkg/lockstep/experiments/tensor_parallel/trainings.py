"""A small GPT, trained with each method of unit 10 and torch's: its losses, rank 0's memory and its traffic.

The text is the source of Python's own library, which every machine has. All methods take the same steps on the same
batches; in tensor parallelism every rank has the whole batch, in data parallelism its share of it. So the losses are
those of one rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from lockstep.data_parallel.ddp import BucketedDDP
from lockstep.datasets import library_text, text_batch
from lockstep.events import Memory
from lockstep.experiments.tensor_parallel.compared_with_torch import Trainable, ours, torchs, whole, with_backward
from lockstep.models import GPT, gpt_layers, next_token_loss, parameters_of
from lockstep.residency import peak_of
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.tensor_parallel.overlapped import OVERLAPPED
from lockstep.tensor_parallel.sequence import KEEPING, SequenceParallelGPT
from lockstep.tensor_parallel.transformer import ParallelGPT
from lockstep.worlds import run

SIZES: dict[str, Any] = {"vocabulary": 128, "width": 64, "heads": 4, "layers": 3, "context": 16}
TEXT, EXAMPLES, STEPS, RATE, RANKS = 50_000, 8, 2, 1e-3, 4
PORTS = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}  # a ring sends n·(K-1)/K so many times


class Trained(NamedTuple):
    """A method's losses, step by step; rank 0's memory; the collectives of a step, and the bytes that rings send."""

    way: str
    losses: Sequence[float]
    memory: Memory
    collectives: float
    port: float


def alone() -> Trainable:
    model = GPT(**SIZES)
    return with_backward(model, lambda x, y: next_token_loss(model(x), y))


def data() -> Trainable:
    """With this rank's share of the examples."""
    model, K, r = BucketedDDP(GPT(**SIZES)), dist.get_world_size(), dist.get_rank()
    return with_backward(model, lambda x, y: next_token_loss(model(x.chunk(K)[r]), y.chunk(K)[r]))


ALONE = "one rank"
WAYS: Mapping[str, Callable[[], Trainable]] = {
    "data parallel": data,
    "tensor parallel": lambda: ours(ParallelGPT(gpt_layers(**SIZES))),
    "tensor parallel, overlapped": lambda: ours(ParallelGPT(gpt_layers(**SIZES), style=OVERLAPPED)),
    "torch’s": lambda: torchs(GPT(**SIZES)),
    "sequence parallel": lambda: ours(SequenceParallelGPT(gpt_layers(**SIZES))),
    "sequence parallel, gathered once": lambda: ours(SequenceParallelGPT(gpt_layers(**SIZES), style=KEEPING)),
    "torch’s, sequence parallel": lambda: torchs(GPT(**SIZES), sequence=True),
}


def trained(way: str) -> tuple[list[float], Memory]:
    """On a rank: its losses, and what it held from its first step on."""
    text = library_text(TEXT) % SIZES["vocabulary"]
    model, backward = (alone if way == ALONE else WAYS[way])()
    adam, losses = torch.optim.Adam(model.parameters(), lr=RATE), []
    with peak_of(model) as memory:
        for number in range(STEPS):
            adam.zero_grad()
            losses.append(whole(backward(*text_batch(text, EXAMPLES, SIZES["context"], number))).item())
            adam.step()
        return losses, memory()


@cache
def training(way: str, ranks: int = RANKS) -> Trained:
    done = run(trained, way, ranks=ranks, on="dgx-a100")
    losses = [sum(of_step) / ranks for of_step in zip(*(losses for losses, _ in done.values), strict=True)]
    sent = [e for e in done.trace.of_rank(0) if e.kind in PORTS]
    port = sum(PORTS[e.kind] * e.nbytes for e in sent) * (ranks - 1) / ranks
    return Trained(way, losses, done.values[0][1], len(sent) / STEPS, port / STEPS)


def trainings_table(ways: Sequence[str] = tuple(WAYS)) -> Table:
    """One rank, and these ways on the same text: do they train the same model?"""
    rows = [_told(training(way, 1 if way == ALONE else RANKS)) for way in counted([ALONE, *ways], "Training", each=2.0)]
    head = ["", *(f"loss of step {n + 1}" for n in range(STEPS)), "kB of parameters", "of activations", "peak",
            "collectives", "kB sent"]  # fmt: skip
    size = f"{parameters_of(GPT(**SIZES)):,} parameters, {EXAMPLES} x {SIZES['context']} tokens"
    return Table(f"A GPT on Python’s own source, {RANKS} ranks: {size}", head, rows)


def _told(row: Trained) -> list[str]:
    peaks = (row.memory.peaks["parameters"], row.memory.peaks["activations"], row.memory.peak)
    sizes = [f"{nbytes / 1e3:,.0f}" for nbytes in peaks]
    return [row.way, *(f"{loss:.5f}" for loss in row.losses), *sizes, f"{row.collectives:g}", f"{row.port / 1e3:,.0f}"]
