"""What sending fewer bytes costs: loss against bytes sent, for local SGD and for compressed gradients on the digits.

rows = local_sgd_sweep()          show.loss_by_bytes(rows)          local_sgd_table(rows)
rows = compression_sweep()        compression_table(rows)           published_compression()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import torch.distributed as dist
from torch import Tensor

from lockstep.events import Event, Trace
from lockstep.tables import Table, published
from lockstep.without_waiting.compression_with_error_feedback import (
    Compress,
    PowerSGD,
    compressed_sgd,
    half_precision,
    topk_with_error_feedback,
    uncompressed,
)
from lockstep.without_waiting.local_sgd import Gradient, local_sgd
from lockstep.without_waiting.problems import CLASSES, Digits, cluster
from lockstep.worlds import run

RANKS, STEPS, RATE = 4, 64, 0.5
PERIODS = (1, 4, 16, 64)
ALPHAS: Mapping[str, float | None] = {"examples dealt evenly": None, "few classes on each rank": 0.1}
TOP, LOW_RANK = 7, 1  # about 1 % of 650 elements; the rank of PowerSGD's matrices
COMPRESSORS: Mapping[str, Callable[[], Compress]] = {
    "all of it, float64": lambda: uncompressed,
    "float16": lambda: half_precision,
    f"the largest {TOP} of 650": lambda: partial(topk_with_error_feedback, k=TOP),
    f"PowerSGD, rank {LOW_RANK}": lambda: PowerSGD(CLASSES, LOW_RANK),
}

Train = Callable[[Gradient, Tensor], Tensor]  # (gradient of a rank, w) -> w afterwards


class Trained(NamedTuple):
    """A model after STEPS steps of each rank. ``nbytes``: what each rank has sent, if all-reduces and all-gathers send
    the least possible; ``loss``: over all training examples; ``error``: percent of the test digits."""

    data: str
    method: str
    collectives: int
    nbytes: float
    loss: float
    error: float


def local_sgd_sweep(periods: Sequence[int] = PERIODS) -> list[Trained]:
    """Local SGD with each period, on examples divided evenly and on examples divided by class."""
    train = {f"{p}": partial(local_sgd, steps=STEPS, rate=RATE, period=p) for p in periods}
    return _trained([(data, period, program) for data in ALPHAS for period, program in train.items()])


def local_sgd_table(rows: Sequence[Trained]) -> Table:
    """The results of ``local_sgd_sweep``: a row for each period, the loss on both kinds of data."""
    head = ("period", "all-reduces", "bytes a rank sends", *(f"loss, {data}" for data in ALPHAS))
    found = {(row.data, row.method): row for row in rows}
    first = next(iter(ALPHAS))
    body = [
        [row.method, f"{row.collectives}", f"{row.nbytes:,.0f}",
         *(f"{found[data, row.method].loss:.3f}" for data in ALPHAS)]
        for row in rows if row.data == first
    ]  # fmt: skip
    return Table(f"Local SGD, {RANKS} ranks, {STEPS} steps of each on the digits", head, body)


def compression_sweep(data: str = "examples dealt evenly") -> list[tuple[Trained, Trained]]:
    """Each kind of compression, with error feedback and without it, when residuals are thrown away."""
    program = partial(compressed_sgd, steps=STEPS, rate=RATE)
    jobs = [
        (data, method, partial(program, compress=made(), feedback=feedback))
        for method, made in COMPRESSORS.items()
        for feedback in (True, False)
    ]
    rows = _trained(jobs)
    return list(zip(rows[::2], rows[1::2], strict=True))


def compression_table(rows: Sequence[tuple[Trained, Trained]]) -> Table:
    """The results of ``compression_sweep``. The gradients are float64, so float16 is a quarter of them; the indices are
    int64."""
    whole = rows[0][0].nbytes
    body = [
        [row.method, f"{row.nbytes / STEPS:,.0f}", f"{whole / row.nbytes:.3g}", f"{row.loss:.3f}",
         f"{without.loss:.3f}", f"{row.error:.1f} %", f"{without.error:.1f} %"]
        for row, without in rows
    ]  # fmt: skip
    head = ("sent", "bytes a rank and step", "times less", "loss", "without feedback", "test error", "without feedback")
    caption = (
        f"Compressed gradients, {RANKS} ranks, {STEPS} steps: float16 is a quarter of float64, and half of float32"
    )
    lost = "Without feedback, what is left out is lost: much with top-k and PowerSGD, little with float16."
    return Table(f"{caption}. {lost}", head, body)


def published_compression() -> Table:
    """Published results of compressed gradients against uncompressed ones, and the source of each row."""
    rows = [
        row for row in published("experiments/without_waiting", "async_and_compression.csv") if row["work"] in _WORKS
    ]
    body = [[_WORKS[row["work"]], row["item"], row["value"], row["source"]] for row in rows]
    caption = "Published: Deep Gradient Compression (DGC) sends the largest 0.1 % of a gradient"
    return Table(caption, ("work", "of", "value", "source"), body)


def published_speedup(gpus: int = 64) -> Table:
    """Deep Gradient Compression's speed-up on so many GPUs over 25-gigabit Ethernet, read off a figure (± 0.6)."""
    rows = [
        row for row in published("experiments/without_waiting", "dgc_speedup_2080ti.csv") if int(row["gpus"]) == gpus
    ]
    by_model: dict[str, dict[str, str]] = {}
    for row in rows:
        by_model.setdefault(row["model"], {})[row["system"]] = row["speedup"]
    systems = list(next(iter(by_model.values())))
    body = [[model, *(of[system] for system in systems)] for model, of in by_model.items()]
    caption = (
        f"Speed-up on {gpus} RTX 2080 Ti, 8 a machine, 25-gigabit Ethernet: read off Figure 3 of "
        "synxlin/deep-gradient-compression, ± 0.6"
    )
    return Table(caption, ("model", *systems), body)


_WORKS = {
    "DGC paper": "Lin et al., Deep Gradient Compression, 2018",
    "DGC repo": "its authors' program, on ImageNet",
}


def _trained(jobs: Sequence[tuple[str, str, Train]]) -> list[Trained]:
    """A row for each (data, method, program), all in one run: loading the digits takes longer than training."""
    done = run(_each, jobs, ranks=RANKS, on=cluster())
    rows = []
    for (data, method, _), w, events in zip(jobs, done.values[0], _parted(done.trace), strict=True):
        problem = Digits(ALPHAS[data])
        nbytes = sum(sent(event, RANKS) for event in events)
        rows.append(Trained(data, method, len(events), nbytes, problem.loss(w), 100 * (1 - problem.accuracy(w))))
    return rows


def _each(jobs: Sequence[tuple[str, str, Train]]) -> list[Tensor]:
    """On a rank: each program in turn, after a barrier that separates its events from those before."""
    models = []
    for data, _, train in jobs:
        dist.barrier()
        problem = Digits(ALPHAS[data])
        models.append(train(problem.of(dist.get_rank(), dist.get_world_size()), problem.start()))
    return models


def _parted(trace: Trace) -> list[list[Event]]:
    """Rank 0's collectives, program by program."""
    parts: list[list[Event]] = []
    for event in trace.communication:
        if event.rank == 0 and event.kind == "barrier":
            parts.append([])
        elif event.rank == 0:
            parts[-1].append(event)
    return parts


def sent(event: Event, ranks: int) -> float:
    """Bytes that a rank sends in an optimal all-gather or all-reduce: of an all-gather its share to each of the others,
    of an all-reduce twice as much."""
    return {"all_gather": 1, "all_reduce": 2}[event.kind] * (ranks - 1) / ranks * event.nbytes
