"""torch's DataLoader with 0 to n workers: what a step takes, and how much of it is waiting for a batch."""

from __future__ import annotations

from time import perf_counter, sleep

import torch
from torch.utils.data import DataLoader, Dataset

from lockstep.experiments.bottlenecks.loading import COMPUTE, LOAD, predicted_step
from lockstep.tables import Table
from lockstep.tally import counted

BATCHES = 30


class Waiting(Dataset[torch.Tensor]):
    """Samples that take LOAD seconds to arrive, and no core."""

    def __len__(self) -> int:
        return BATCHES

    def __getitem__(self, number: int) -> torch.Tensor:
        sleep(LOAD)
        return torch.zeros(1)


def times(workers: int) -> tuple[float, float]:
    """Seconds of a step, and those of it in which it waited for its batch: the mean of all after the first batch."""
    batches = iter(DataLoader(Waiting(), batch_size=None, num_workers=workers))
    next(batches)
    began, waited = perf_counter(), 0.0
    for _ in range(BATCHES - 1):
        asked = perf_counter()
        next(batches)
        waited += perf_counter() - asked
        sleep(COMPUTE)
    return (perf_counter() - began) / (BATCHES - 1), waited / (BATCHES - 1)


def workers_table(workers: tuple[int, ...] = (0, 1, 2)) -> Table:
    """Milliseconds of a step for some numbers of workers."""
    rows = []
    for number in counted(workers, "Measuring", each=1.0):
        step, waited = times(number)
        told = [f"{1e3 * predicted_step(number):.1f}", f"{1e3 * step:.1f}", f"{1e3 * waited:.1f}"]
        rows.append([f"{number}", *told])
    head = ["num_workers", "ms a step, by the sum", "measured", "of it waiting for a batch"]
    return Table("A step of 8 ms whose batch takes 4 ms to arrive, with torch’s DataLoader", head, rows)
