"""A small GPT trained with each schedule and with torch's pipeline: the losses are those of one rank with all of them.

The text is the source of Python's standard library, which every machine has. All take the same steps on the same
batches. With a flush the losses equal those of one rank. PipeDream updates after every micro-batch, which is another
training: its losses are means over the micro-batches of a step, each before its update.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.datasets import library_text, text_batch
from lockstep.experiments.pipeline.compared_with_torch import torchs_step
from lockstep.models import gpt_layers, next_token_loss
from lockstep.pipeline.instructions import place
from lockstep.pipeline.schedules import stream
from lockstep.pipeline.stages import cuts
from lockstep.pipeline.worker import PipelineWorker
from lockstep.tables import Table
from lockstep.worlds import Result, run

SIZES: dict[str, Any] = {"vocabulary": 128, "width": 64, "layers": 6, "context": 16}
TEXT, EXAMPLES, MICRO_BATCHES, STEPS, RATE, RANKS = 50_000, 8, 4, 2, 1e-3, 4
TORCHS = "torch’s 1F1B"
METHODS: Mapping[str, tuple[str, int]] = {  # the schedule, and the number of chunks on a stage
    "naive": ("naive", 1),
    "GPipe": ("gpipe", 1),
    "GPipe, re-materialised": ("gpipe, re-materialised", 1),
    "1F1B": ("one_f_one_b", 1),
    "interleaved, v = 2": ("interleaved", 2),
    "ZB-H1": ("zb_h1", 1),
    TORCHS: ("one_f_one_b", 1),
    "PipeDream": ("pipedream", 1),
}


class Trained(NamedTuple):
    """The loss of each step; the peak memory of a rank, and the bytes sent by all ranks in a step."""

    losses: list[float]
    held: int
    sent: float


def chunks_of(stage: int, stages: int, chunks: int) -> tuple[list[nn.Module], list[tuple[int, ...]]]:
    """This stage's parts of the GPT, and the shape of one example of each part's input: tokens or their vectors."""
    layers, context, width = list(gpt_layers(**SIZES)), SIZES["context"], SIZES["width"]
    parts = cuts(len(layers), stages * chunks)
    mine = [parts[place(c, stage, stages)] for c in range(chunks)]
    shapes: list[tuple[int, ...]] = [(context, width) if part.start else (context,) for part in mine]
    return [nn.Sequential(*layers[part.start : part.stop]) for part in mine], shapes


def trained(method: str) -> list[float]:
    """Runs on each rank: the losses of all steps on the last stage, [] on the others."""
    schedule, v = METHODS[method]
    stage, stages = dist.get_rank(), dist.get_world_size()
    chunks, shapes = chunks_of(stage, stages, v)
    adam = torch.optim.Adam([p for chunk in chunks for p in chunk.parameters()], lr=RATE)
    step = torchs(chunks, adam) if method == TORCHS else ours(schedule, chunks, shapes, adam)
    text = library_text(TEXT) % SIZES["vocabulary"]
    losses = [step(*text_batch(text, EXAMPLES, SIZES["context"], number)) for number in range(STEPS)]
    return losses if stage == stages - 1 else []


def ours(
    schedule: str, chunks: list[nn.Module], shapes: list[tuple[int, ...]], adam: torch.optim.Adam
) -> Callable[[Tensor, Tensor], float]:
    stage, stages = dist.get_rank(), dist.get_world_size()
    worker = PipelineWorker(chunks, shapes, next_token_loss, adam)
    todo = stream(schedule, stage, stages, MICRO_BATCHES, len(chunks))
    updates = MICRO_BATCHES if schedule == "pipedream" else 1

    def step(x: Tensor, y: Tensor) -> float:
        inputs, targets = x.chunk(MICRO_BATCHES), y.chunk(MICRO_BATCHES)
        loss = worker.step(todo, [len(part) for part in inputs], inputs, targets)
        return loss.item() / updates if loss is not None else 0.0

    return step


def torchs(chunks: list[nn.Module], adam: torch.optim.Adam) -> Callable[[Tensor, Tensor], float]:
    seen = list[Tensor]()

    def loss(scores: Tensor, tokens: Tensor) -> Tensor:
        seen.append(next_token_loss(scores, tokens))
        return seen[-1]

    gradients = torchs_step("one_f_one_b", chunks, loss, MICRO_BATCHES)

    def step(x: Tensor, y: Tensor) -> float:
        seen.clear()
        adam.zero_grad()
        gradients(x, y)
        adam.step()
        return sum(one.item() for one in seen[-MICRO_BATCHES:]) / MICRO_BATCHES  # torch tries the loss once at first

    return step


@cache
def training(method: str, ranks: int = RANKS) -> Trained:
    done: Result = run(trained, method, ranks=ranks, on="dgx-a100")
    sent = sum(done.trace.sent(rank).nbytes for rank in range(ranks)) / STEPS
    return Trained(done.values[-1], max(memory.peak for memory in done.memory), sent)


def methods_table() -> Table:
    """All methods on the same text: do they train the same model?"""
    found = {"one rank": training("GPipe", ranks=1), **{name: training(name) for name in METHODS}}
    rows = [
        [name, *(f"{loss:.5f}" for loss in row.losses), f"{row.held / 1e3:,.0f}", f"{row.sent / 1e3:,.0f}"]
        for name, row in found.items()
    ]
    head = ["", *(f"loss of step {n + 1}" for n in range(STEPS)), "kB held by a rank", "kB sent by all"]
    return Table(f"A GPT on Python’s own source: {RANKS} stages, {MICRO_BATCHES} micro-batches", head, rows)
