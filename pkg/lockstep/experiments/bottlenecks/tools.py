"""Tools on one sick loop: torch's profiler, its Chrome trace read back, a flight recorder's dumps."""

from __future__ import annotations

import io
import logging
import lzma
import os
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

from lockstep.bottlenecks.loops import CLUSTER
from lockstep.chrome_traces.spans import Recording, recording
from lockstep.errors import RunError
from lockstep.events import Trace
from lockstep.flight_recorder import dump
from lockstep.tables import Table
from lockstep.worlds import run

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else its library writes a line whenever it starts

SAMPLES, BATCH, SIZE = 32, 4, 60_000
NEXT = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


class Compressed(Dataset[torch.Tensor]):
    """Samples that are decompressed, by Python's lzma and NumPy, whenever one is asked for: a stand-in for JPEGs."""

    def __init__(self, samples: int = SAMPLES) -> None:
        pixels = np.random.default_rng(0).integers(0, 8, SIZE, dtype=np.uint8)
        self.raw = [lzma.compress(pixels.tobytes(), preset=0)] * samples

    def __len__(self) -> int:
        return len(self.raw)

    def __getitem__(self, number: int) -> torch.Tensor:
        bytes_ = np.frombuffer(lzma.decompress(self.raw[number]), dtype=np.uint8)
        return torch.from_numpy(bytes_.astype(np.float32) / 255)


def sick_loop(batches: Any) -> None:
    """Decodes each batch when it needs it, and reads the loss at every step."""
    model = nn.Linear(SIZE, 1)
    sgd = torch.optim.SGD(model.parameters(), 1e-6)
    for x in batches:
        sgd.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        sgd.step()
        loss.item()


def profiled() -> tuple[Table, Recording]:
    """The sick loop under torch.profiler: its table, by time without what happened within, and its Chrome trace, read
    back by ``lockstep.chrome_traces``."""
    loader = DataLoader(Compressed(), batch_size=BATCH)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # on a busy machine, threads that wait for each other would take the most
    try:
        sick_loop([torch.zeros(BATCH, SIZE)])  # warm
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            sick_loop(loader)
    finally:
        torch.set_num_threads(threads)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sick.json"
        profile.export_chrome_trace(str(file))
        read = recording(file)
    return _table(profile), read


def _table(profile: Any, most: int = 6) -> Table:
    found = sorted(profile.key_averages(), key=lambda e: -e.self_cpu_time_total)
    total = sum(e.self_cpu_time_total for e in found)
    rows = [
        [e.key, f"{e.count}", f"{e.self_cpu_time_total / 1e3:.1f}", f"{e.self_cpu_time_total / total:.0%}"]
        for e in found[:most]
    ]
    return Table("torch.profiler: eight steps", ["operation", "calls", "ms, its own", "share"], rows)


def loading_share(of: Recording) -> float:
    """The share of the recorded time in which the loop waited for its loader."""
    spans = [s for s in of.spans if s.name == NEXT]
    return sum(s.end - s.begin for s in spans) / of.total


# ---- a hang


def flight_records(fn: Callable[[], object], ranks: int = 4) -> str:
    """What torch's own ``fr_trace`` says of the dumps of a run of ``fn`` that hangs, on virtual ranks; "" if it does
    not."""
    try:
        run(fn, ranks=ranks, on=CLUSTER)
    except RunError as error:
        trace = error.trace
    else:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        dump(trace or Trace(), folder)
        return analysed(folder)


def analysed(folder: str) -> str:
    """What ``fr_trace`` says of the dumps in ``folder``, from the first operation that not all ranks have joined."""
    told = io.StringIO()
    logger = logging.getLogger("Flight Recorder")
    logger.disabled = True  # while it is imported, it says what is not installed
    from torch.distributed.flight_recorder import fr_trace

    logger.disabled = False
    before, logger.handlers = logger.handlers, [logging.StreamHandler(told)]
    try:
        fr_trace.main([folder])
    finally:
        logger.handlers = before
    lines = told.getvalue().splitlines()
    begin = next((n for n, line in enumerate(lines) if line.startswith("Not all ranks")), 0)
    return "\n".join(lines[begin:])


def waits_for_nobody() -> None:
    """Runs on each rank: rank 1 never comes to the barrier."""
    from datetime import timedelta

    if dist.get_rank() != 1:
        dist.monitored_barrier(timeout=timedelta(seconds=1))


def words_of_gloo() -> str:
    """The first line that gloo's ``monitored_barrier`` says of it, from two real processes."""
    try:
        run(waits_for_nobody, ranks=2)
    except RunError as error:
        return textwrap.fill(str(error).splitlines()[0], 56)  # a narrow window's line
    return ""
