"""The cost model's all-reduce beside what others have measured with NCCL and RCCL on GPUs.

Bus bandwidth is 2(K-1)/K · n / seconds: the rate at which an algorithm of least traffic keeps each port busy, so that
numbers of ranks can be compared (NVIDIA, nccl-tests, doc/PERFORMANCE.md). The model knows links and nothing of the
library: short tensors must differ, and so must NVLS, where the switch adds up and a port carries half the bytes.

Source: Stas Bekman, Machine Learning Engineering Open Book (github.com/stas00/ml-engineering), network and its
benchmarks; in ``data/allreduce_busbw_measured.csv``, whose first lines say what each column is.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from statistics import median

from lockstep import machines
from lockstep.bench.table import Row, Table
from lockstep.cost.network import collective_time

# What the file calls a system, as it begins -> the cluster of ours that it is.
CLUSTERS: Mapping[str, str] = {
    "P6-B200": "dgx-b200",
    "8xB200": "dgx-b200",
    "8xH200": "h200",
    "8xMI300X": "mi300x",
    "8xA100": "dgx-a100",
}
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
LARGE = 8 * 2**30  # "large"
LONG = 2**28  # from here on a tensor is long enough for the links alone to count


@dataclass(frozen=True)
class Measurement:
    """One line of the file that has a cluster of ours."""

    system: str
    cluster: str
    ranks: int
    payload: str
    measured: float  # bytes a second

    @property
    def nbytes(self) -> int:
        return LARGE if self.payload == "large" else int(self.payload[:-3]) * UNITS[self.payload[-3:]]

    @property
    def predicted(self) -> float:
        taken = collective_time("all_reduce", self.nbytes, range(self.ranks), machines.find(self.cluster))
        return 2 * (self.ranks - 1) / self.ranks * self.nbytes / taken

    @property
    def error(self) -> float:
        """How much more the model promises: 0.2 is a fifth more."""
        return self.predicted / self.measured - 1


def measurements() -> tuple[list[Measurement], int]:
    """Those that can be compared, and how many cannot: a machine that is not described, or a range for a number."""
    lines = resources.files("lockstep.bench").joinpath("data/allreduce_busbw_measured.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    known = [(row, name) for row in rows for start, name in CLUSTERS.items() if row["system"].startswith(start)]
    found = [
        Measurement(row["system"], name, int(row["ranks"]), row["payload"], float(row["busbw_GBps"]) * 1e9)
        for row, name in known
    ]
    return found, len(rows) - len(found)


def table() -> Table:
    found, others = measurements()
    long = [abs(m.error) for m in found if m.nbytes >= LONG]
    short = [abs(m.error) for m in found if m.nbytes < LONG]
    notes = [
        f"From 256 MiB on: off by {100 * median(long):.0f} % (median), {100 * max(long):.0f} % at worst.",
        f"Below: {100 * median(short):,.0f} % and {100 * max(short):,.0f} %. The model has no library and no kernels.",
        f"{others} lines of the file are left out: their machine is not described, or has no one number.",
        "Measured by: github.com/stas00/ml-engineering, network benchmarks. Payloads and GB/s as there.",
    ]
    return Table("predict: the bus bandwidth of an all-reduce on GPUs", [row(m) for m in found], notes)


def row(m: Measurement) -> Row:
    return {
        "measured on": m.system.partition(" / ")[0],
        "model": m.cluster,
        "ranks": m.ranks,
        "payload": m.payload,
        "measured [GB/s]": m.measured / 1e9,
        "predicted [GB/s]": m.predicted / 1e9,
        "ratio": m.predicted / m.measured,
        "error %": 100 * m.error,
    }
