"""Lesson 09's lines at work: what the learner's formula says stands beside streams that are counted and steps that ran.

``cost.bubble`` has the formulas; ``pipeline.schedule_costs`` reads the same from a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from lockstep.comm.backend_rules import NCCL
from lockstep.errors import Deadlock
from lockstep.experiments.pipeline import held
from lockstep.experiments.pipeline.training import speedup
from lockstep.pipeline import blocking_messages
from lockstep.pipeline.schedule_costs import bubble, peak_activations, staleness, weight_versions
from lockstep.pipeline.schedules import streams
from lockstep.tables import Table
from lockstep.worlds import Result, run

BubbleShare = Callable[[int, int], float]  # (stages, micro-batches) -> share of the step
Kept = Callable[[int, int, int], int]  # (stage, stages, micro-batches) -> micro-batches
Delay = Callable[[int, int], int]  # (stage, stages) -> updates

LAYERS = 6  # of a stage whose bytes are told: its inputs are then a small part of them


def bubble_table(bubble_share: BubbleShare, stages: int = 8, counts: Sequence[int] = (1, 8, 16, 32)) -> Table:
    """GPipe with more and more micro-batches: the bubble by the line and counted, and what that makes of a step."""
    head = ["micro-batches", "bubble by your line", "counted", "times one GPU, by your line", "simulated A100"]
    rows = [
        [str(m), f"{share:.1%}", f"{bubble(streams('gpipe', stages, m)):.1%}", f"{stages * (1 - share):.2f}",
         f"{speedup('gpipe', stages, m):.2f}"]
        for m in counts for share in [bubble_share(stages, m)]
    ]  # fmt: skip
    return Table(f"GPipe on {stages} stages, one batch of 2,048 examples", head, rows)


def kept_table(kept: Kept, stages: int = 4, micro_batches: int = 8) -> Table:
    """What each stage keeps, by the line, counted in its stream, and in bytes: beside GPipe."""
    head = ["stage", "1F1B by your line", "counted", "measured", "GPipe, counted", "measured"]
    found = {name: held.executed(name, stages, micro_batches, LAYERS).memory for name in ("one_f_one_b", "gpipe")}
    counted = {name: list(map(peak_activations, streams(name, stages, micro_batches))) for name in found}
    rows = []
    for s in range(stages):
        kilobytes = [f"{found[name][s].peaks['activations'] / 1e3:.0f} kB" for name in found]
        of_gpipe = [str(counted["gpipe"][s]), kilobytes[1]]
        rows.append(
            [str(s), f"{kept(s, stages, micro_batches)}", str(counted["one_f_one_b"][s]), kilobytes[0], *of_gpipe]
        )
    return Table(
        f"Micro-batches kept at once, and the activations' bytes: p = {stages}, m = {micro_batches}", head, rows
    )


def delay_table(delay: Delay, stages: int = 4, minibatches: int = 20) -> Table:
    """PipeDream: how old a minibatch's weights are at its backward pass, and how many versions a stage keeps for it."""
    head = ["stage", "updates between F and B, by your line", "counted", "versions kept"]
    rows = [
        [str(s), f"{delay(s, stages)}", str(max(staleness(stream).values())), str(weight_versions(stream))]
        for s, stream in enumerate(streams("pipedream", stages, minibatches))
    ]
    return Table(f"PipeDream on {stages} stages, when the pipeline is full", head, rows)


# ---- who sends first


def exchanged(program: Callable[..., Any], numbers: int, stages: int = 3, micro_batches: int = 4) -> Result:
    """1F1B with one of ``blocking_messages``' two exchanges, in tensors of so many numbers. By NCCL's rules short
    messages are buffered, and long ones wait for their receive. Raises Deadlock."""
    return run(_exchanged, program, micro_batches, numbers, ranks=stages, on="dgx-a100", rules=NCCL)


def _exchanged(program: Callable[..., Any], micro_batches: int, numbers: int) -> None:
    def compute(i: int, given: torch.Tensor | None) -> torch.Tensor:
        return torch.full((numbers,), float(i)) if given is None else given + 1

    program(compute, compute, micro_batches, (numbers,))


def exchange_table(sizes: Sequence[int] = (1_000, 100_000, 1_000_000)) -> Table:
    """Both exchanges with short and long messages."""
    programs = {
        "send, then receive": blocking_messages.one_f_one_b_exchange,
        "one batch": blocking_messages.mend_one_f_one_b_exchange,
    }
    rows = [[told, *(outcome(program, numbers) for numbers in sizes)] for told, program in programs.items()]
    return Table(
        "1F1B on 3 stages, by the bytes of a message, with NCCL’s rules",
        ["", *(f"{4 * n / 1e3:,.0f} kB" for n in sizes)],
        rows,
    )


def outcome(program: Callable[..., Any], numbers: int) -> str:
    try:
        return f"{exchanged(program, numbers).time * 1e6:,.0f} µs"
    except Deadlock:
        return "waits for ever"
