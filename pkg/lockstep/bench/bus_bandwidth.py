"""The cost model's all-reduce against published measurements with NCCL and RCCL on GPUs.

Bus bandwidth is 2(K-1)/K · n / seconds: the rate at which an algorithm of least traffic keeps each port busy, so that
numbers of ranks can be compared (NVIDIA, nccl-tests, doc/PERFORMANCE.md). It is compared with two models:

    peak      links at the speed of their data sheets
    library   links at the speed that the library's own sources assume, and in-switch reduction (``cost.collectives``)

Neither is fitted to these measurements. Neither models kernels and their launches, so short tensors must differ.

Source: Stas Bekman, Machine Learning Engineering Open Book (github.com/stas00/ml-engineering), network and its
benchmarks; in ``data/allreduce_busbw_measured.csv``, whose first lines say what each column is and under which licence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from lockstep import machines
from lockstep.bench.table import Row, Table
from lockstep.cost.collectives import collective_time, library_all_reduce
from lockstep.tables import published

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
    def moved(self) -> float:
        """Bytes through each port, with an algorithm of least traffic."""
        return 2 * (self.ranks - 1) / self.ranks * self.nbytes

    @property
    def by_peak(self) -> float:
        """Seconds."""
        return collective_time("all_reduce", self.nbytes, range(self.ranks), machines.find(self.cluster))

    @property
    def by_library(self) -> float:
        """Seconds."""
        in_switch = "NVLS off" not in self.system
        return library_all_reduce(self.nbytes, self.ranks, machines.find(self.cluster), in_switch)

    @property
    def left_over(self) -> float:
        """Seconds that the library's model does not explain."""
        return self.moved / self.measured - self.by_library

    def error(self, seconds: float) -> float:
        """The relative error of a model that predicts ``seconds``: 0.2 if it promises a fifth more bandwidth."""
        return self.moved / seconds / self.measured - 1


def measurements() -> tuple[list[Measurement], int]:
    """Those that can be compared, and how many cannot: a machine that is not described, or a range for a number."""
    rows = published("bench", "allreduce_busbw_measured.csv")
    known = [(row, name) for row in rows for start, name in CLUSTERS.items() if row["system"].startswith(start)]
    found = [
        Measurement(row["system"], name, int(row["ranks"]), row["payload"], float(row["busbw_GBps"]) * 1e9)
        for row, name in known
    ]
    return found, len(rows) - len(found)


def table() -> Table:
    found, others = measurements()
    notes = [
        f"From 256 MiB on: by the peak off by {off(found, 'by_peak')}; by the library by {off(found, 'by_library')}.",
        *called(found),
        f"{others} lines of the file are left out: their machine is not described, or has no one number.",
        "Measured by: github.com/stas00/ml-engineering (CC BY-SA 4.0), network benchmarks. Payloads and GB/s as there.",
    ]
    return Table("predict: the bus bandwidth of an all-reduce on GPUs", [row(m) for m in found], notes)


def off(found: Sequence[Measurement], model: str) -> str:
    errors = [100 * abs(m.error(getattr(m, model))) for m in found if m.nbytes >= LONG]
    return f"{median(errors):.0f} % (median; {max(errors):.0f} % at worst)"


def called(found: Sequence[Measurement]) -> Iterator[str]:
    """The fixed cost of a call, fitted here to the short tensors of each system, and not used anywhere else."""
    for system, ranks in sorted({(m.system, m.ranks) for m in found if m.nbytes < LONG}):
        short = [m for m in found if (m.system, m.ranks) == (system, ranks) and m.nbytes < LONG]
        call = median(m.left_over for m in short)
        without = median(100 * abs(m.error(m.by_library)) for m in short)
        fitted = median(100 * abs(m.error(m.by_library + call)) for m in short)
        yield (
            f"Below, {name(system)} on {ranks} ranks: off by {without:,.0f} %. A call took {1e6 * call:,.0f} µs "
            f"beside its bytes (median: kernels, protocols, torch); with that, off by {fitted:.0f} %."
        )


def name(system: str) -> str:
    """As the file has it, without what follows from it: "8xH200 NVLink4 NVLS default" → "8xH200 NVLS default"."""
    return re.sub(r" NVLink\d", "", system.partition(" / ")[0])


def row(m: Measurement) -> Row:
    return {
        "measured on": name(m.system),
        "ranks": m.ranks,
        "payload": m.payload,
        "real [GB/s]": m.measured / 1e9,
        "library [GB/s]": m.moved / m.by_library / 1e9,
        "ratio": 1 + m.error(m.by_library),
        "error %": 100 * m.error(m.by_library),
        "by peak: error %": 100 * m.error(m.by_peak),
    }
