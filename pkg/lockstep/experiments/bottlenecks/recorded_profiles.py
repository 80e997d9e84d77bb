"""Profiles of eight training loops of four ranks, sick and healthy.

They ran on the virtual cluster, in virtual time: products of matrices and all-reduces take what its machines take; a
loader, and a read of a number from a device, are pauses of a given length. ``python -m
lockstep.experiments.bottlenecks.recorded_profiles`` records the course's file anew, in a minute or two. The profiles
are called by letters, and their numbers do not say what they suffer from.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from lockstep.tables import Table
from lockstep.worlds import run

RANKS, STEPS, CLUSTER = 4, 3, "commodity-10g"
WIDTH = 384  # of the matrices
FILE = Path("experiments", "bottlenecks", "data", "profiles.json")
Row = tuple[int, int, str, int, int]  # rank, step, name, begin, end


@dataclass(frozen=True)
class Loop:
    """What a rank does in a step. ``loader`` and ``reads``: seconds; ``products``: of matrices, in the forward pass;
    ``calls`` of an all-reduce carry ``numbers`` together."""

    loader: Callable[[int, int], float] = lambda rank, step: 5e-5
    products: Callable[[int, int], int] = lambda rank, step: 40
    reads: Callable[[int, int], tuple[float, ...]] = lambda rank, step: (2e-5,)
    calls: int = 1
    numbers: int = 200_000


LOOPS: dict[str, Loop] = {
    "A": Loop(products=lambda rank, step: 95 if rank == (step + 1) % RANKS else 40),
    "B": Loop(calls=30),
    "C": Loop(loader=lambda rank, step: 6e-3 if rank == 2 else 5e-5),
    "D": Loop(numbers=1_500_000),
    "E": Loop(reads=lambda rank, step: (4e-4,) * 6),
    "F": Loop(loader=lambda rank, step: 4e-3, calls=20),
    "G": Loop(
        products=lambda rank, step: 120 if rank == 1 else 40, loader=lambda rank, step: 5e-5 if rank == 1 else 1e-3
    ),
    "H": Loop(loader=lambda rank, step: 5e-3 + 2e-4 * rank),
}


def profiled(letter: str) -> list[Row]:
    """The spans of this rank. A step begins when the sums of the one before are there."""
    loop, rank = LOOPS[letter], dist.get_rank()
    weights, buffer = torch.ones(WIDTH, WIDTH), torch.zeros(loop.numbers)
    spans: list[Row] = []
    dist.barrier()
    begin = before = time.perf_counter()
    for step in range(STEPS):

        def took(name: str, step: int = step) -> None:
            nonlocal before
            now = time.perf_counter()
            spans.append((rank, step, name, round(1e6 * (before - begin)), round(1e6 * (now - begin))))
            before = now

        buffer.mul_(0.9)
        took("optimizer.step")
        for n, seconds in enumerate(loop.reads(rank, step)):
            time.sleep(seconds)
            took("print" if n % 2 else ".item()")
        time.sleep(loop.loader(rank, step))
        took("next(loader)")
        for name, times in (("forward", 1), ("backward", 2)):
            for _ in range(times * loop.products(rank, step)):
                weights @ weights
            took(name)
        for part in buffer.chunk(loop.calls):
            dist.all_reduce(part)
            took("all_reduce")
    return spans


def latency() -> float:
    """Seconds of an all-reduce without elements."""
    dist.barrier()
    begin = time.perf_counter()
    dist.all_reduce(torch.zeros(0))
    return time.perf_counter() - begin


def computed() -> dict[str, Any]:
    """What the file has, from new runs: microseconds of an all-reduce without elements, and the spans of each loop."""
    spans = {name: run(profiled, name, ranks=RANKS, on=CLUSTER).values for name in LOOPS}
    (cost, *_) = run(latency, ranks=RANKS, on=CLUSTER).values
    return {
        "call_cost": round(1e6 * cost, 1),
        "spans": {name: list(chain(*of_ranks)) for name, of_ranks in spans.items()},
    }


def written(found: dict[str, Any]) -> str:
    """The text of the course's file: a line for each step of a rank."""
    loops = []
    for name, spans in found["spans"].items():
        rows: dict[tuple[int, int], list[Row]] = {}
        for row in spans:
            rows.setdefault((row[0], row[1]), []).append(row)
        lines = ",\n".join(", ".join(map(json.dumps, row)) for row in rows.values())
        loops.append(f'"{name}": [\n{lines}\n]')
    return f'{{"call_cost": {found["call_cost"]}, "spans": {{\n{", ".join(loops)}\n}}}}\n'


@cache
def _file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("lockstep").joinpath(*FILE.parts).read_text(encoding="utf-8"))
    return found


def recorded(letter: str) -> tuple[list[Row], float]:
    """The spans of a loop, and microseconds of an all-reduce without elements. ``letter``: a key of LOOPS."""
    return [tuple(row) for row in _file()["spans"][letter]], _file()["call_cost"]


def shares_table(letter: str) -> Table:
    """For each rank of a loop, the percentage of its time that each kind of span takes: what a profiler's table has."""
    spans, _ = recorded(letter)
    names = list(dict.fromkeys(name for _, _, name, _, _ in spans))
    rows = []
    for rank in range(RANKS):
        own = [row for row in spans if row[0] == rank]
        whole = own[-1][4] - own[0][3]
        took = [sum(end - begin for _, _, name, begin, end in own if name == one) for one in names]
        rows.append([str(rank), *(f"{100 * t / whole:.0f} %" for t in took)])
    return Table(f"Loop {letter}: where each rank's time goes", ["rank", *names], rows)


if __name__ == "__main__":
    sys.stdout.write(written(computed()))
