"""Three axes on two kinds of links: which of dp, tp and pp runs between nodes?

    2 x 2 x 2 GPUs in two nodes of four: two axes have all their groups inside a node, and the third has all of its
    groups between the nodes

    order of the axes     ranks that differ in the first one are neighbours; the last one crosses
    tp, dp, pp            Megatron's: stages on different nodes
    tp, pp, dp            replicas on different nodes
    dp, pp, tp            parts of a matrix on different nodes

A step of a small GPT is executed on the virtual cluster for each of the three. Bytes are those that a rank sends; the
parts of its time are those of an average rank. The nine steps take a minute or two, so they are recorded:

    python -m lockstep.experiments.hybrid.placed > pkg/lockstep/experiments/hybrid/data/placements.csv
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import torch.distributed as dist

from lockstep.errors import UsageError
from lockstep.events import Event, Trace
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.worker import GridWorker
from lockstep.machines import Cluster, find
from lockstep.pipeline.schedules import stream
from lockstep.show.axes_on_links import Placement
from lockstep.tables import Table, published
from lockstep.tally import counted
from lockstep.worlds import run

AXES = ("dp", "tp", "pp")
PARTS = ("compute", *AXES, "bubble")
GRID = Grid(dp=2, tp=2, pp=2)
NODES = replace(find("dgx-a100"), name="two nodes of 4 A100", ranks_per_node=4)
MICRO_BATCHES = 4


class Job(NamedTuple):
    """A GPT of four layers, and the tokens of a micro-batch."""

    name: str
    hidden: int
    tokens: int

    @property
    def model(self) -> GPTSize:
        return GPTSize(4, self.hidden, 16, self.tokens, vocab=2048, dropout=0.0, attention="flash")


JOBS = (Job("many tokens", 1024, 4096), Job("some of both", 4096, 2048), Job("many weights", 8192, 256))


class Placed(NamedTuple):
    """A step with ``across`` between the nodes. ``sent``: bytes that a rank sends on each axis, the mean over ranks;
    ``parts``: seconds of an average rank; "bubble" is what is left."""

    job: Job
    across: str
    seconds: float
    sent: Mapping[str, float]
    parts: Mapping[str, float]


def order(across: str) -> tuple[str, ...]:
    """The axes, fastest first, with ``across`` last. Raises UsageError for an axis that is none of the three."""
    if across not in AXES:
        raise UsageError(f"{across!r} is none of the three axes.", f"Choose among {', '.join(AXES)}.")
    inside = [axis for axis in ("tp", "dp", "pp") if axis != across]
    return (*inside, across)


def groups_in(axes: tuple[str, ...], grid: Grid = GRID) -> dict[str, list[tuple[int, ...]]]:
    """All groups of each axis, where ranks are counted with the first axis fastest."""
    sizes = [getattr(grid, axis) for axis in axes]
    seats = [tuple(reversed(seat)) for seat in product(*(range(size) for size in reversed(sizes)))]
    found = dict[str, list[tuple[int, ...]]]()
    for n, axis in enumerate(axes):
        of_seat = dict[tuple[int, ...], list[int]]()
        for rank, seat in enumerate(seats):
            of_seat.setdefault(seat[:n] + seat[n + 1 :], []).append(rank)
        found[axis] = [tuple(ranks) for ranks in of_seat.values()]
    return found


def step(job: Job, across: str) -> None:
    """Runs on each rank: a training step, after a barrier."""
    me, mine = dist.get_rank(), dict[str, dist.ProcessGroup]()
    for axis, groups in groups_in(order(across)).items():
        for ranks in groups:
            group = dist.new_group(list(ranks))
            if me in ranks and isinstance(group, dist.ProcessGroup):
                mine[axis] = group
    for rank in range(GRID.ranks):
        alone = dist.new_group([rank])
        if rank == me and isinstance(alone, dist.ProcessGroup):
            mine["cp"] = alone
    worker = GridWorker(job.model, GRID, 1, mine)
    dist.barrier()
    worker.train(stream("one_f_one_b", worker.stage, GRID.pp, MICRO_BATCHES), MICRO_BATCHES)


@cache
def placed(job: Job, across: str, on: Cluster = NODES) -> Placed:
    """One step, simulated."""
    trace = run(step, job, across, ranks=GRID.ranks, on=on, fake=True).trace
    began = max(e.end for e in trace.of_kind("barrier"))
    return told(job, across, trace, began)


def told(job: Job, across: str, trace: Trace, began: float) -> Placed:
    axis_of = {ranks: axis for axis, groups in groups_in(order(across)).items() for ranks in groups}
    sent, parts = dict.fromkeys(AXES, 0.0), dict.fromkeys(("compute", *AXES), 0.0)
    ended = began
    for e in steps_events(trace, began):
        ended = max(ended, e.end)
        axis = "compute" if e.kind == "compute" else axis_of.get(e.group, "pp")
        parts[axis] += (e.duration if e.kind == "compute" else min(e.wait, e.duration)) / GRID.ranks
        if e.kind != "compute":
            sent[axis] += bytes_sent(e) / GRID.ranks
    seconds = ended - began
    return Placed(job, across, seconds, sent, {**parts, "bubble": seconds - sum(parts.values())})


def steps_events(trace: Trace, began: float) -> Iterator[Event]:
    return (e for e in trace if e.posted >= began - 1e-12 and e.kind != "barrier" and e.group != (e.rank,))


def bytes_sent(e: Event) -> float:
    """What this rank sends in a ring."""
    if e.kind in ("send", "recv"):
        return float(e.nbytes) if e.kind == "send" else 0.0
    return (2 if e.kind == "all_reduce" else 1) * (len(e.group) - 1) / len(e.group) * e.nbytes


def all_placed(full: bool = False) -> list[Placed]:
    """Every job with every axis across: recorded, or with ``full`` simulated anew."""
    if not full:
        return recorded()
    every = list(product(JOBS, AXES))
    return [placed(job, across) for job, across in counted(every, "Simulating", each=1.0)]


def recorded() -> list[Placed]:
    jobs = {job.name: job for job in JOBS}
    return [
        Placed(
            jobs[row["gpt"]], row["across"], float(row["seconds"]),
            {axis: float(row[f"{axis}_bytes"]) for axis in AXES},
            {part: float(row[f"{part}_seconds"]) for part in PARTS},
        )
        for row in published("experiments/hybrid", "placements.csv")
    ]  # fmt: skip


def find_recorded(job: Job, across: str) -> Placed:
    return next(p for p in recorded() if (p.job, p.across) == (job, across))


def written(rows: Iterable[Placed]) -> str:
    head = ["gpt", "across", "seconds", *(f"{axis}_bytes" for axis in AXES), *(f"{part}_seconds" for part in PARTS)]
    lines = [
        "# A step of a GPT of four layers under 2 x 2 x 2 on the virtual cluster's A100 (placed.py).",
        "# provenance: simulated",
        ",".join(head),
    ]
    for p in rows:
        numbers = [p.seconds, *(p.sent[axis] for axis in AXES), *(p.parts[part] for part in PARTS)]
        lines.append(",".join([p.job.name, p.across, *(f"{number:.9g}" for number in numbers)]))
    return "\n".join(lines) + "\n"


def on_links() -> list[Placement]:
    """The same for ``show.axes_on_links``."""
    return [Placement(p.job.name, p.across, p.sent, p.parts) for p in all_placed()]


def placed_table() -> Table:
    head = ["GPT", "between nodes", "step", *(f"{axis} sends" for axis in AXES)]
    rows = [
        [f"{p.job.name}: {p.job.hidden:,} wide, {p.job.tokens:,} tokens", p.across, f"{p.seconds * 1e3:.1f} ms",
         *(f"{p.sent[axis] / 1e6:,.0f} MB" for axis in AXES)]
        for p in all_placed()
    ]  # fmt: skip
    return Table("Four layers under 2 x 2 x 2, on two simulated nodes of 4 A100: which axis crosses?", head, rows)


if __name__ == "__main__":
    print(written(all_placed(full=True)), end="")
