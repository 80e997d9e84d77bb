"""Does the virtual cluster predict what is measured? First on this machine, then on GPUs, from published measurements.

The same program runs on the virtual cluster and on processes. The cluster is this machine as ``on="virtual"`` models
it, but with a new survey: the saved one may be from a busier minute. A course asks how many times as long something
takes, so the errors of ratios count: of two algorithms, of two numbers of ranks, of two sizes.

    virtual   what was predicted                    least    the fastest of all repeats: nearly free of what else runs
    ratio     virtual by least                      median   the usual repeat, which others on the machine move
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from lockstep.bench import bus_bandwidth
from lockstep.bench.table import Row, Table, size_of
from lockstep.bench.timed_all_reduces import Case, Seconds, on_processes, summed_up, taking_turns
from lockstep.bench.timing import Size
from lockstep.this_machine.host import cores
from lockstep.this_machine.survey import measure
from lockstep.worlds import run

RANKS: Mapping[Size, tuple[int, ...]] = {"quick": (2, 4), "normal": (2, 4), "full": (2, 4, 8)}
REPEATS: Mapping[Size, int] = {"quick": 1, "normal": 25, "full": 51}
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
    load = os.getloadavg()[0]
    times = measured(size)
    found = ratios(times, size)
    seconds = [time_row(point, *both) for point, both in times.items()]
    return [
        Table("predict: an all-reduce on this machine", seconds, [surroundings(load)]),
        *(Table(f"predict: ratios of {kind} on this machine", list(map(ratio_row, of)), [summary(kind, of)])
          for kind, of in found.items()),
        bus_bandwidth.table(),
    ]  # fmt: skip


def errors(size: Size) -> Table:
    """How far the ratios are off, a row for each kind; ``tables`` lists them one by one."""
    load = os.getloadavg()[0]
    found = ratios(measured(size), size)
    return Table(
        "virtual: errors of its ratios, against processes of this machine",
        [{"ratios of": kind, "compared": len(of), **error_row(of)} for kind, of in found.items()],
        ["`lockstep bench predict` tells them one by one.", surroundings(load)],
    )


def ratios(times: Times, size: Size) -> dict[str, list[Compared]]:
    return {kind: list(made(times, RANKS[size], SIZES[size])) for kind, made in KINDS.items()}


def surroundings(load: float) -> str:
    usable = cores().usable
    busy = "Others were at work, too: trust the least times." if load > usable / 4 else "The machine was quiet."
    return f"Ranks share {usable} cores, there and here. Load of the machine before it began: {load:.1f}. {busy}"


def measured(size: Size) -> dict[Point, tuple[float, Seconds]]:
    """For each number of ranks: the virtual cluster, then processes."""
    cluster = measure().cluster
    found: dict[Point, tuple[float, Seconds]] = {}
    for ranks in RANKS[size]:
        cases: list[Case] = [(algorithm, nbytes) for nbytes in SIZES[size] for algorithm in COMPARED]
        virtual = summed_up(run(taking_turns, cases, 1, ranks=ranks, on=cluster).values)
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
        "least [µs]": real.least * 1e6,
        "ratio": virtual / real.least,
        "median [µs]": real.median * 1e6,
    }


class Compared(NamedTuple):
    """How many times as long one thing takes as another."""

    name: str
    predicted: float
    least: float
    median: float


def of_algorithms(times: Times, ranks: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[Compared]:
    for k, n, algorithm in ((k, n, a) for k in ranks for n in sizes for a in COMPARED[1:]):
        name = f"{algorithm} : {BASE}, {k} ranks, {size_of(n)}"
        yield compared(times, name, (k, algorithm, n), (k, BASE, n))


def of_ranks(times: Times, ranks: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[Compared]:
    for algorithm, n, (few, many) in ((a, n, p) for a in COMPARED for n in sizes for p in pairwise(ranks)):
        name = f"{many} : {few} ranks, {algorithm}, {size_of(n)}"
        yield compared(times, name, (many, algorithm, n), (few, algorithm, n))


def of_sizes(times: Times, ranks: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[Compared]:
    for k, algorithm, (short, long) in ((k, a, p) for k in ranks for a in COMPARED for p in pairwise(sizes)):
        name = f"{size_of(long)} : {size_of(short)}, {algorithm}, {k} ranks"
        yield compared(times, name, (k, algorithm, long), (k, algorithm, short))


KINDS = {"algorithms": of_algorithms, "ranks": of_ranks, "sizes": of_sizes}


def compared(times: Times, name: str, above: Point, below: Point) -> Compared:
    (virtual, real), (virtual_below, real_below) = times[above], times[below]
    return Compared(name, virtual / virtual_below, real.least / real_below.least, real.median / real_below.median)


def ratio_row(c: Compared) -> Row:
    return {
        "compared": c.name,
        "ratio": c.predicted,
        "of least": c.least,
        "error %": 100 * (c.predicted / c.least - 1),
        "of medians": c.median,
    }


def off(found: Sequence[Compared]) -> dict[str, list[float]]:
    """Per cent by which each ratio is off what was measured, by either measure."""
    return {
        "least times": [100 * abs(c.predicted / c.least - 1) for c in found],
        "medians": [100 * abs(c.predicted / c.median - 1) for c in found],
    }


def error_row(found: Sequence[Compared]) -> Row:
    usual = {f"of {what}: usually [%]": median(errors) for what, errors in off(found).items()}
    return usual | {f"of {what}: at worst [%]": max(errors) for what, errors in off(found).items()}


def summary(kind: str, found: Sequence[Compared]) -> str:
    """How far the ratios of a kind are off: the usual one, and the worst."""
    told = [f"{median(e):.0f} % (at worst {max(e):.0f} %) of the {what}" for what, e in off(found).items()]
    return f"Ratios of {kind}: usually off by {', by '.join(told)}."
