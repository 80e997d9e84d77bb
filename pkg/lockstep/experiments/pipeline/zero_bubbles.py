"""What zero-bubble schedules leave of the bubble: ours, and those that torch has, whose orders are taken from torch.

    F, I, W      forward pass; backward pass, gradient of the input; backward pass, gradients of the weights
    the bubble   idle time of all stages until the last one is done, as a share
    own time     the same, each stage counted from its own first pass to its own last one: what is left if no stage
                 waits for the others before its next step

The second is the zero of the paper. It needs an update that no stage waits for: no norm of all gradients before it, for
instance. And torch says of its ZBV schedule that it has zero bubble "only if time forward == time backward input ==
time backward weights" (docstring of ``ScheduleZBVZeroBubble`` in torch 2.13).

``torchs`` runs torch's schedules on the virtual cluster as they are; ``runs_table`` is its time and memory.

Sources: Qi et al., "Zero Bubble Pipeline Parallelism", arXiv:2401.10241; DualPipe: DeepSeek-V3, arXiv:2412.19437.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import nn

from lockstep.pipeline.instructions import Backward, BackwardInput, BackwardWeights, Forward
from lockstep.pipeline.schedule_costs import peak_activations
from lockstep.pipeline.schedules import streams
from lockstep.pipeline.simulate import UNIT, Times, simulate
from lockstep.tables import Table
from lockstep.worlds import Result, run

OURS: Mapping[str, str] = {"1F1B": "one_f_one_b", "ZB-H1": "zb_h1"}
TORCHS = ("InterleavedZeroBubble", "ZBVZeroBubble", "DualPipeV")
V_SHAPED = ("ZBVZeroBubble", "DualPipeV")  # stage r has place r and, counted from the end, place r again
EQUAL, UNEQUAL = (1.0, 1.0, 1.0), (1.0, 1.5, 0.5)  # F, I, W
CHUNKS = 2  # of torch's schedules, on each rank

WIDTH, EXAMPLES, LAYERS = 1024, 256, 8  # of a layer; of a micro-batch; layers of a rank

Seconds = tuple[float, float, float]
Key = tuple[bool, int, int]  # is it a backward pass, place, micro-batch


class Span(NamedTuple):
    """``stage`` computes from ``start`` to ``end``."""

    stage: int
    start: float
    end: float


class Left(NamedTuple):
    """What a schedule leaves of the bubble, in all and in the stages' own time; micro-batches kept by a stage at most,
    in parts of a whole stage."""

    bubble: float
    own: float
    kept: float


def left(name: str, stages: int, micro_batches: int, seconds: Seconds = EQUAL) -> Left | None:
    """None where torch refuses: DualPipeV needs two micro-batches for each rank."""
    if name in OURS:
        found = streams(OURS[name], stages, micro_batches)
        f, i, w = seconds
        times = Times({**UNIT, Forward: f, Backward: i + w, BackwardInput: i, BackwardWeights: w})
        spans = [Span(at.stage, at.start, at.end) for at in simulate(found, times)]
        return Left(*idle(spans, stages), max(map(peak_activations, found)))
    if name == "DualPipeV" and micro_batches < CHUNKS * stages:
        return None
    orders = order(name, stages, micro_batches)
    return Left(*idle(timed(orders, seconds), stages), max(map(most_kept, orders)) / CHUNKS)


def idle(spans: Sequence[Span], stages: int) -> tuple[float, float]:
    """The idle share until the last stage is done, and that of the stages' own time."""
    work = sum(span.end - span.start for span in spans)
    mine = [[span for span in spans if span.stage == stage] for stage in range(stages)]
    own = sum(max(span.end for span in of) - min(span.start for span in of) for of in mine)
    return 1 - work / stages / max(span.end for span in spans), max(0.0, 1 - work / own)


# ---- torch's orders


def order(name: str, stages: int, micro_batches: int) -> list[list[Any]]:
    """What each rank computes, in turn, by torch's schedule: passes, each of a micro-batch at a place. A forward and a
    backward pass that may overlap count as the two, one after the other."""
    from torch.distributed.pipelining._schedule_visualizer import get_schedule_ops

    ranks = get_schedule_ops(name, stages, micro_batches)
    passes = [[a for entry in rank if entry for a in entry.sub_actions or (entry,)] for rank in ranks]
    return [[a for a in rank if a.computation_type.value in "FIWB"] for rank in passes]


def timed(orders: Sequence[Sequence[Any]], seconds: Seconds) -> list[Span]:
    """When each pass runs, if messages take no time: as soon as its rank is free and what it needs is there."""
    f, i, w = seconds
    takes = {"F": f, "I": i, "W": w, "B": i + w}
    last = max(a.stage_index for rank in orders for a in rank)
    done, free, at = dict[Key, float](), [0.0] * len(orders), [0] * len(orders)
    spans = list[Span]()
    while any(at[r] < len(passes) for r, passes in enumerate(orders)):
        before = len(spans)
        for r, passes in enumerate(orders):
            while at[r] < len(passes) and ((wanted := needed(passes[at[r]], last)) is None or wanted in done):
                kind, place, micro_batch = _told(passes[at[r]])
                start = max(free[r], done[wanted] if wanted else 0.0)
                free[r] = start + takes[kind]
                spans.append(Span(r, start, free[r]))
                if kind != "W":
                    done[kind != "F", place, micro_batch] = free[r]
                at[r] += 1
        assert len(spans) > before, "torch's order waits for ever"
    return spans


def needed(one: Any, last: int) -> Key | None:
    """The pass that ``one`` needs the result of."""
    kind, place, micro_batch = _told(one)
    if kind == "F":
        return (False, place - 1, micro_batch) if place else None
    if kind == "W":
        return True, place, micro_batch
    return (True, place + 1, micro_batch) if place < last else (False, place, micro_batch)


def most_kept(passes: Sequence[Any]) -> int:
    """The most (place, micro-batch) pairs of a rank that are between their forward pass and the end of their backward
    pass."""
    alive, most = set[tuple[int, int]](), 0
    for one in passes:
        kind, *part = _told(one)
        if kind == "F":
            alive.add((part[0], part[1]))
        most = max(most, len(alive))
        if kind in "WB":
            alive.discard((part[0], part[1]))
    return most


def _told(one: Any) -> tuple[str, int, int]:
    return one.computation_type.value, one.stage_index, one.microbatch_index


def left_table(stages: int = 8, counts: Sequence[int] = (8, 16)) -> Table:
    """The bubble that each schedule leaves with so many micro-batches, and with the most of them: in the stages' own
    time, with unequal passes, and what a stage keeps."""
    rows, most = [], counts[-1]
    for name in (*OURS, *TORCHS):
        equal = [left(name, stages, m) for m in counts]
        cells = [f"{one.bubble:.1%}" if one else "–" for one in equal]
        there, unequal = equal[-1], left(name, stages, most, UNEQUAL)
        assert there is not None
        assert unequal is not None
        rows.append([name, *cells, f"{there.own:.1%}", f"{unequal.bubble:.1%}", f"{there.kept:g}"])
    head = ["schedule", *(f"bubble, m = {m}" for m in counts), "in own time", "if W is a third of I", "kept"]
    title = f"The bubble on {stages} stages; the last three columns with m = {most}"
    return Table(f"{title} (kept: micro-batches of a whole stage)", head, rows)


# ---- torch's schedules at work


def step(name: str, micro_batches: int) -> float:
    """Runs on each rank: two steps of a flat MLP under torch's schedule; the seconds of the second one. The first step
    also sends shapes."""
    from torch.distributed.pipelining import PipelineStage, schedules

    rank, ranks = dist.get_rank(), dist.get_world_size()
    v = 1 if name == "1F1B" else CHUNKS
    places = [rank, 2 * ranks - 1 - rank if name in V_SHAPED else ranks + rank][:v]
    mine: Any = [PipelineStage(_chunk(LAYERS // v), place, ranks * v, torch.device("cpu")) for place in places]
    schedule = getattr(schedules, f"Schedule{name}")(mine if v > 1 else mine[0], micro_batches, nn.functional.mse_loss)
    batch = torch.ones(micro_batches * EXAMPLES, WIDTH)
    inputs = (batch,) if 0 in places else ()
    target = {"target": batch} if ranks * v - 1 in places else {}
    schedule.step(*inputs, **target)
    dist.barrier()
    began = time.perf_counter()
    schedule.step(*inputs, **target)
    return time.perf_counter() - began


def _chunk(layers: int) -> nn.Sequential:
    return nn.Sequential(*[m for _ in range(layers) for m in (nn.Linear(WIDTH, WIDTH), nn.ReLU())])


@cache
def torchs(name: str, ranks: int, micro_batches: int) -> Result:
    return run(step, name, micro_batches, ranks=ranks, on="dgx-a100", fake=True, timeout=300)


def runs_table(ranks: int = 4, micro_batches: int = 8) -> Table:
    """torch's schedules on simulated A100, without data: time of a step, idle share in it, and memory."""
    rows = []
    for name in ("1F1B", "Interleaved1F1B", *TORCHS):
        done = torchs(name, ranks, micro_batches)
        seconds = max(done.values)
        since = done.time - seconds
        work = sum(e.end - max(e.start, since) for e in done.trace.of_kind("compute") if e.end > since)
        activations = max(memory.peaks["activations"] for memory in done.memory)
        rows.append([name, f"{seconds * 1e3:.2f}", f"{1 - work / ranks / seconds:.1%}", f"{activations / 1e6:.0f}",
                     f"{max(done.peak_memory) / 1e6:.0f}"])  # fmt: skip
    head = ["torch’s schedule", "ms a step", "idle", "MB of activations", "MB in all"]
    title = f"{ranks} ranks, {micro_batches} micro-batches, {LAYERS} layers a rank"
    return Table(f"{title}: time and idle share of all ranks, and the most that a rank holds", head, rows)
