"""A loader's budget: what workers can do, and what storage must deliver."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, sleep

import numpy as np

from lockstep.bottlenecks.lengths import Batches, as_they_come, bucketed
from lockstep.bottlenecks.prefetching import Prefetched
from lockstep.cost.loading import fed
from lockstep.show.chart import Chart
from lockstep.show.curves import curves
from lockstep.tables import Table

Workers = Callable[[float, float], int]  # (samples a second, seconds of a sample) -> workers
LOAD, COMPUTE, BATCHES = 4e-3, 8e-3, 20
IMAGE = 110e3  # bytes of a sample: about an ImageNet JPEG


def lengths(sequences: int = 480) -> list[int]:
    """Lengths of sequences in tokens: log-normal, with a median of 55, from 4 to 512."""
    own = np.random.default_rng(0).lognormal(4.0, 0.8, sequences)
    found: list[int] = np.clip(own, 4, 512).astype(int).tolist()
    return found


def ways(own: list[int], batch: int = 8) -> dict[str, Batches]:
    """As they come, and bucketed within windows of 2 batches and of all."""
    return {
        "as they come": as_they_come(own, batch),
        "bucketed in windows of 2 batches": bucketed(own, batch, window=2),
        "bucketed over all": bucketed(own, batch, window=len(own)),
    }


def step_seconds(workers: int, batches: int = BATCHES) -> float:
    """Seconds of a step, measured: loading waits LOAD, as for storage far away, the step COMPUTE, as for a GPU."""
    began = perf_counter()
    for _ in Prefetched(lambda key: sleep(LOAD), range(batches), workers, depth=2 * max(1, workers)):
        sleep(COMPUTE)
    return (perf_counter() - began) / batches


def predicted_step(workers: int) -> float:
    """The same by the sum: without workers load and compute, with them the longer of the two."""
    return max(COMPUTE, LOAD / workers) if workers else COMPUTE + LOAD


def workers_table(workers: tuple[int, ...] = (0, 1, 2, 8)) -> Table:
    """Seconds of a step for some numbers of workers, by the sum and measured."""
    rows = [[f"{n}", f"{1e3 * predicted_step(n):.1f}", f"{1e3 * step_seconds(n):.1f}"] for n in workers]
    return Table("A step of 8 ms whose batch takes 4 ms to load", ["workers", "ms by the sum", "ms measured"], rows)


def budget_table(line: Workers, cores: int = 16) -> Table:
    """What the learner's line says for a GPU that takes ever more samples, each of which takes a core 4 ms."""
    rows = []
    for rate in (250.0, 1000.0, 2500.0, 10_000.0):
        needed = line(rate, 4e-3)
        rows.append([f"{rate:,.0f}", f"{needed}", f"{fed(rate, 4e-3, needed, cores):.0%}"])
    head = ["samples a second", "workers, by your line", f"GPU fed, on {cores} cores"]
    return Table("A sample takes a core 4 ms", head, rows)


def storage_chart() -> Chart:
    """How much of its time a GPU of 2,500 samples a second is fed, over the storage's rate."""
    rates = [25e6 * 2**n for n in range(7)]
    found = {
        f"{size / 1e3:g} kB a sample": {rate / 1e6: 100 * min(1.0, rate / size / 2500) for rate in rates}
        for size in (IMAGE, IMAGE / 4)
    }
    return curves(found, "MB/s from storage", "% of its time fed", "A GPU that takes 2,500 samples a second", log="x")
