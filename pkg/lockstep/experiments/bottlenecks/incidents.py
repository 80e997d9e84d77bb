"""Six runs of 64 ranks that hang, as the dumps of PyTorch's flight recorder.

They ran on the virtual cluster, and are recorded in the course's file without their times: ``python -m
lockstep.experiments.bottlenecks.incidents`` runs them anew, in less than a minute. In each, one rank is at fault; the
file does not say which one, and ``lockstep.bottlenecks.post_mortem`` finds it.
"""

from __future__ import annotations

import inspect
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from lockstep import flight_recorder
from lockstep.errors import RunError
from lockstep.events import Trace
from lockstep.worlds import run

RANKS, SIDE, STEPS = 64, 8, 3
FILE = Path("experiments", "bottlenecks", "data", "incidents.json")
WORLD = "0"  # the name of the group of all ranks
KEPT = 6  # entries: the recorder overwrites the oldest ones

Dump = dict[str, Any]
Group = dist.ProcessGroup


def grid() -> tuple[Group, Group]:
    """This rank's row, eight ranks that follow each other, and its column, every eighth rank."""
    rank = dist.get_rank()
    rows = [dist.new_group(list(range(i * SIDE, (i + 1) * SIDE))) for i in range(SIDE)]
    columns = [dist.new_group(list(range(i, RANKS, SIDE))) for i in range(SIDE)]
    return rows[rank // SIDE], columns[rank % SIDE]


def evaluation(at_fault: int) -> None:
    """A rank has fewer batches than the others, and is done a step earlier. It evaluates with a neighbour."""
    _, column = grid()
    pair = dist.new_group([at_fault, at_fault + 1])
    rank, x = dist.get_rank(), torch.ones(16)
    for step in range(STEPS):
        if rank in (at_fault, at_fault + 1):
            dist.all_reduce(x, group=pair)
            dist.broadcast(x, src=at_fault, group=pair)
        if rank == at_fault and step == STEPS - 1:
            return
        dist.all_reduce(x, group=column)
        dist.all_reduce(x)


def pipelines(at_fault: int) -> None:
    """A first stage reads no batch: its pipeline waits, stage by stage, and all others wait for that pipeline."""
    rank, x = dist.get_rank(), torch.ones(32)
    for step in range(STEPS):
        if rank == at_fault and step == STEPS - 1:
            return
        if rank >= SIDE:
            dist.recv(x, rank - SIDE)
        if rank < RANKS - SIDE:
            dist.send(x, rank + SIDE)
        dist.barrier()


def last_batch(at_fault: int) -> None:
    """A rank gathers a batch that is smaller than the others'."""
    row, column = grid()
    rank = dist.get_rank()
    for step in range(STEPS):
        dist.all_reduce(torch.ones(1), group=row)
        short = rank == at_fault and step == STEPS - 1
        if short:
            time.sleep(1)
        x = torch.ones(24 if short else 32)
        dist.all_reduce(x, group=column)
        dist.all_reduce(torch.ones(4))


def skipped(at_fault: int) -> None:
    """A rank skips a step's all-reduce, since its loss is no number, and is at the next broadcast already."""
    row, column = grid()
    rank, x = dist.get_rank(), torch.ones(16)
    for step in range(STEPS):
        dist.all_reduce(x, group=row)
        if rank == at_fault and step == STEPS - 1:
            time.sleep(1)
        else:
            dist.all_reduce(x, group=column)
        dist.broadcast(x, src=rank % SIDE, group=column)
        dist.all_reduce(x)


def turned_round(at_fault: int) -> None:
    """A rank does two operations in the other order."""
    row, column = grid()
    rank, x = dist.get_rank(), torch.ones(16)
    for step in range(STEPS):
        if rank == at_fault and step == STEPS - 1:
            dist.all_reduce(x, group=row)
            dist.all_reduce(x)
        else:
            dist.all_reduce(x)
            dist.all_reduce(x, group=row)
        dist.barrier(group=column)


def died(at_fault: int) -> None:
    """A rank's process ends, and leaves no dump."""
    row, column = grid()
    rank, x = dist.get_rank(), torch.ones(8)
    for step in range(STEPS):
        dist.all_reduce(x)
        dist.all_reduce(x, group=column)
        if rank == at_fault and step == STEPS - 1:
            return
        dist.all_reduce(x, group=row)


AT_FAULT: dict[str, tuple[Callable[[int], None], int]] = {
    "Monday": (turned_round, 44),
    "Tuesday": (pipelines, 6),
    "Wednesday": (skipped, 51),
    "Thursday": (died, 29),
    "Friday": (last_batch, 13),
    "Saturday": (evaluation, 36),
}
INCIDENTS = tuple(AT_FAULT)  # their days: learners print this, so it doesn't name the culprits


def as_a_script(program: Callable[[int], None]) -> Callable[[int], None]:
    """The same function, as ``train`` in a file train.py: a trace has the lines of a program, and none of this
    library."""
    room, source = dict(globals()), inspect.getsource(program).replace(program.__name__, "train", 1)
    exec(compile(source, "train.py", "exec"), room)
    found: Callable[[int], None] = room["train"]
    return found


def trace_of(program: Callable[[int], None], at_fault: int) -> Trace:
    try:
        run(as_a_script(program), at_fault, ranks=RANKS, on="virtual")
    except RunError as error:
        if error.trace:
            return error.trace
    raise RuntimeError(f"{program.__name__} does not hang, or has left no trace.")


def told(entry: Dump) -> list[Any]:
    """Of an entry, what the file has."""
    keys = "collective_seq_id", "is_p2p", "profiling_name", "input_sizes", "output_sizes", "state"
    return [entry["process_group"][0], *(entry[key] for key in keys), entry["frames"][0]["name"],
            entry["frames"][0]["filename"]]  # fmt: skip


def entry(told: Sequence[Any]) -> Dump:
    """The inverse of ``told``, in the recorder's format."""
    name, number, is_message, profiling, taken, given, state, kind, line = told
    return {
        "process_group": [name, "default_pg" if name == WORLD else ""],
        "collective_seq_id": number,
        "p2p_seq_id": number if is_message else 0,
        "is_p2p": is_message,
        "profiling_name": profiling,
        "input_sizes": [list(size) for size in taken],
        "output_sizes": [list(size) for size in given],
        "state": state,
        "frames": [{"name": kind, "filename": line, "line": ""}],
    }


def computed() -> dict[str, Any]:
    """What the file has, from six new runs: for each, all different entries, the ranks of the groups, and of each rank
    the numbers of its latest entries; None if it left no dump."""
    found = {}
    for day, (program, at_fault) in AT_FAULT.items():
        trace = trace_of(program, at_fault)
        everyone = flight_recorder.world(trace)
        names = {g: str(n) for n, g in enumerate([everyone, *sorted(flight_recorder.groups(trace) - {everyone})])}
        entries: dict[str, int] = {}
        ranks: list[list[int] | None] = []
        for rank in range(RANKS):
            own = [json.dumps(told(e)) for e in flight_recorder.of_rank(trace, rank, names)["entries"]][-KEPT:]
            ranks.append([entries.setdefault(one, len(entries)) for one in own])
        if program is died:
            ranks[at_fault] = None
        groups = {name: list(members) for (_, members), name in names.items()}
        found[day] = {"groups": groups, "entries": list(map(json.loads, entries)), "ranks": ranks}
    return found


def written(found: dict[str, Any]) -> str:
    """The text of the course's file: a line for each list."""
    days, between = [], ",\n"
    for day, parts in found.items():
        entries = between.join(map(json.dumps, parts["entries"]))
        groups, ranks = (f'"{part}": {json.dumps(parts[part])}' for part in ("groups", "ranks"))
        days.append(f'"{day}": {{\n"entries": [\n{entries}\n],\n{groups},\n{ranks}\n}}')
    return "{\n" + between.join(days) + "\n}\n"


@cache
def _file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("lockstep").joinpath(*FILE.parts).read_text(encoding="utf-8"))
    return found


def recorded(day: str) -> list[Dump | None]:
    """The dumps of that day's incident, of each rank in order: new dicts, which are yours to change. ``day``: one of
    INCIDENTS."""
    return dumps_of(_file()[day])


def dumps_of(parts: dict[str, Any]) -> list[Dump | None]:
    """The dumps of a run, from what ``computed`` has of it."""
    groups = {n: {"name": n, "ranks": json.dumps(ranks)} for n, ranks in parts["groups"].items()}
    dumps: list[Dump | None] = []
    for rank, own in enumerate(parts["ranks"]):
        config = {n: dict(group) for n, group in groups.items() if rank in parts["groups"][n]}
        entries = [entry(parts["entries"][number]) for number in own or ()]
        dumps.append(None if own is None else {"version": "2.10", "pg_config": config, "entries": entries})
    return dumps


if __name__ == "__main__":
    sys.stdout.write(written(computed()))
