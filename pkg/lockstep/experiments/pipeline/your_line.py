"""Lesson 09's exercises in a line: the learner's formula compared with counts from streams and with executed steps.

``cost.pipeline`` has the formulas; ``pipeline.schedule_costs`` gets the same numbers from a stream.
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
from lockstep.show.chart import Chart
from lockstep.show.curves import curves
from lockstep.tables import Table
from lockstep.worlds import Result, run

BubbleShare = Callable[[int, int], float]  # (stages, micro-batches) -> share of the step
Kept = Callable[[int, int, int], int]  # (stage, stages, micro-batches) -> micro-batches
Delay = Callable[[int, int], int]  # (stage, stages) -> updates

LAYERS = 6  # of a stage whose bytes are reported: enough that its inputs are a small part of them


def bubble_table(bubble_share: BubbleShare, stages: int = 8, counts: Sequence[int] = (1, 8, 16, 32)) -> Table:
    """GPipe with more and more micro-batches: the bubble by the learner's formula and counted, and the speedup."""
    head = ["micro-batches", "bubble by your line", "counted", "times one GPU, by your line", "simulated A100"]
    rows = [
        [str(m), f"{share:.1%}", f"{bubble(streams('gpipe', stages, m)):.1%}", f"{stages * (1 - share):.2f}",
         f"{speedup('gpipe', stages, m):.2f}"]
        for m in counts for share in [bubble_share(stages, m)]
    ]  # fmt: skip
    return Table(f"GPipe on {stages} stages, one batch of 2,048 examples", head, rows)


def bubble_chart(bubble_share: BubbleShare, stages: int = 8, counts: Sequence[int] = (1, 2, 4, 8, 16, 32)) -> Chart:
    """GPipe with more and more micro-batches: how many times as fast as one GPU, by the bubble alone and simulated. The
    best simulated one is marked."""
    simulated = {float(m): speedup("gpipe", stages, m) for m in counts}
    lines = {
        "by your line": {float(m): stages * (1 - bubble_share(stages, m)) for m in counts},
        "by counting slots": {float(m): stages * (1 - bubble(streams("gpipe", stages, m))) for m in counts},
        "simulated A100": simulated,
    }
    head = f"GPipe on {stages} stages, one batch of 2,048 examples"
    spoken = {"simulated A100": max(simulated, key=lambda m: simulated[m])}
    return curves(lines, "micro-batches", "times one GPU", head, spoken=spoken)


def kept_table(kept: Kept, stages: int = 4, micro_batches: int = 8) -> Table:
    """What each stage of 1F1B keeps, by the learner's formula, counted in its stream, and in bytes; and GPipe's."""
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
    """PipeDream: how stale a minibatch's weights are at its backward pass, and the versions that a stage keeps."""
    head = ["stage", "updates between F and B, by your line", "counted", "versions kept"]
    rows = [
        [str(s), f"{delay(s, stages)}", str(max(staleness(stream).values())), str(weight_versions(stream))]
        for s, stream in enumerate(streams("pipedream", stages, minibatches))
    ]
    return Table(f"PipeDream on {stages} stages, when the pipeline is full", head, rows)


# ---- who sends first


def exchanged(program: Callable[..., Any], numbers: int, stages: int = 3, micro_batches: int = 4) -> Result:
    """1F1B with one of the two exchanges of ``blocking_messages``, on tensors of ``numbers`` elements. By NCCL's rules
    short sends are buffered, and long ones wait for their receive. Raises Deadlock."""
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
