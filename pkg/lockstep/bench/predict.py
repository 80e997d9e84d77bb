"""Is what the virtual cluster predicts what is measured? First on this machine, then on the machines of others.

The same program runs on the virtual cluster and on processes. The cluster is this machine as ``on="virtual"`` has it,
but surveyed anew: what is kept may be from a busier minute. A course asks how many times as long something takes, so
the errors of ratios count: of two algorithms, of two numbers of ranks, of two sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from statistics import median

from lockstep.bench import bus_bandwidth
from lockstep.bench.all_reduces import Case, Seconds, on_processes, slowest, taking_turns
from lockstep.bench.table import Row, Table, size_of
from lockstep.bench.timing import Size
from lockstep.launch.host import cores
from lockstep.launch.survey import measure
from lockstep.worlds import run

RANKS: Mapping[Size, tuple[int, ...]] = {"quick": (2, 4), "normal": (2, 4), "full": (2, 4, 8)}
REPEATS: Mapping[Size, int] = {"quick": 1, "normal": 15, "full": 31}
SIZES: Mapping[Size, tuple[int, ...]] = {
    "quick": (2**10, 2**12),
    "normal": (2**10, 2**16, 2**20, 2**23),
    "full": (2**10, 2**13, 2**16, 2**18, 2**20, 2**23, 2**25),
}
BASE = "ring"
COMPARED = (BASE, "halving-doubling", "tree")

Point = tuple[int, str, int]  # ranks, algorithm, bytes
Times = Mapping[Point, tuple[float, Seconds]]  # on the virtual cluster, on processes


def tables(size: Size) -> list[Table]:
    times = measured(size)
    ranks, sizes = RANKS[size], SIZES[size]
    ratios = [row for kind in (of_algorithms, of_ranks, of_sizes) for row in kind(times, ranks, sizes)]
    shared = (
        f"With more ranks than {cores().usable} cores, ranks wait for a turn of a core. The cluster has one for each."
    )
    return [
        Table(
            "predict: seconds of an all-reduce on this machine", [time_row(p, *t) for p, t in times.items()], [shared]
        ),
        Table("predict: ratios on this machine", ratios, [summary(kind, ratios) for kind in KINDS]),
        bus_bandwidth.table(),
    ]


def measured(size: Size) -> dict[Point, tuple[float, Seconds]]:
    """For each number of ranks: the virtual cluster, then processes."""
    cluster = measure().cluster
    found: dict[Point, tuple[float, Seconds]] = {}
    for ranks in RANKS[size]:
        cases: list[Case] = [(algorithm, nbytes) for nbytes in SIZES[size] for algorithm in COMPARED]
        virtual = slowest(run(taking_turns, cases, 1, ranks=ranks, on=cluster).values)
        real = on_processes(cases, ranks, REPEATS[size])
        found |= {(ranks, *case): (virtual[case].median, real[case]) for case in cases}
    return found


def time_row(point: Point, virtual: float, real: Seconds) -> Row:
    ranks, algorithm, nbytes = point
    return {
        "ranks": ranks,
        "size": size_of(nbytes),
        "all-reduce": algorithm,
        "virtual [µs]": virtual * 1e6,
        "median [µs]": real.median * 1e6,
        "ratio": virtual / real.median,
        "least [µs]": real.least * 1e6,
        "least's ratio": virtual / real.least,
    }


KINDS = ("algorithms", "ranks", "sizes")


def of_algorithms(times: Times, ranks: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[Row]:
    for k, n, algorithm in ((k, n, a) for k in ranks for n in sizes for a in COMPARED[1:]):
        yield ratio_row(times, KINDS[0], f"{algorithm} : {BASE}", (k, algorithm, n), (k, BASE, n))


def of_ranks(times: Times, ranks: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[Row]:
    for algorithm, n, (few, many) in ((a, n, p) for a in COMPARED for n in sizes for p in pairwise(ranks)):
        yield ratio_row(times, KINDS[1], f"{many} : {few} ranks", (many, algorithm, n), (few, algorithm, n))


def of_sizes(times: Times, ranks: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[Row]:
    for k, algorithm, (short, long) in ((k, a, p) for k in ranks for a in COMPARED for p in pairwise(sizes)):
        told = f"{size_of(long)} : {size_of(short)}"
        yield ratio_row(times, KINDS[2], told, (k, algorithm, long), (k, algorithm, short))


def ratio_row(times: Times, kind: str, told: str, above: Point, below: Point) -> Row:
    (virtual, real), (virtual_below, real_below) = times[above], times[below]
    predicted, measured = virtual / virtual_below, real.median / real_below.median
    least = real.least / real_below.least
    return {
        "of": kind,
        "compared": told,
        "all-reduce": above[1],
        "ranks": above[0],
        "size": size_of(above[2]),
        "predicted ratio": predicted,
        "median's ratio": measured,
        "error %": 100 * (predicted / measured - 1),
        "least's ratio": least,
        "least's error %": 100 * (predicted / least - 1),
    }


def summary(kind: str, rows: list[Row]) -> str:
    """How far the ratios of a kind are off: the usual one, and the worst."""
    told = []
    for what in ("error %", "least's error %"):
        off = [abs(float(row[what])) for row in rows if row["of"] == kind]
        told.append(f"{median(off):.0f} % (at worst {max(off):.0f} %)")
    return f"Ratios of {kind}: usually off by {told[0]}; of the least times by {told[1]}."
