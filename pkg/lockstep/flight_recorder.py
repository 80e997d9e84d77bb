"""A trace as the dumps of PyTorch's flight recorder, one file a rank, for the tools that read those::

    except RunError as error:
        dump(error.trace, folder)
        print(reader(folder))  # python -m torch.distributed.flight_recorder.fr_trace FOLDER

The format is that of ``_dump_fr_trace`` in torch 2.13, version 2.10. What a trace has no record of is left out, or
said in its own terms:

    sizes      in bytes, as tensors of one dimension and of dtype Byte: a trace has no shapes
    frames     the line of the program, and no stack
    messages   each direction of each pair of ranks is a group of its own, since a group's operation is expected of all
               its members. A receive from any source that got nothing belongs to no pair, and is left out
    groups     those with the same ranks are one
"""

from __future__ import annotations

import pickle
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

from lockstep.events import POINT_TO_POINT, Event, Trace

VERSION = "2.10"
PREFIX = "rank_"
NANOSECONDS = 1e9
TIMEOUT = 1_800_000  # ms: torch's default, of no meaning here
GATHERS = ("all_gather", "gather")  # whose output is that of all ranks together
SCATTERS = ("reduce_scatter", "scatter")  # whose input is

Group = tuple[str, tuple[int, ...]]  # description, ranks


def dump(trace: Trace, folder: str | Path, prefix: str = PREFIX) -> list[Path]:
    """Write a dump for each rank into ``folder``, which is made if it does not exist, and return the files.

    They are called ``prefix`` and the rank's number. Those of an earlier run with more ranks are removed: the tools
    would take them for ranks of this one."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for file in Path(folder).iterdir():
        number = file.name.removeprefix(prefix)
        if file.name.startswith(prefix) and number.isdecimal() and int(number) >= trace.ranks:
            file.unlink()
    names = {g: str(number) for number, g in enumerate([world(trace), *sorted(groups(trace) - {world(trace)})])}
    files = []
    for rank in range(trace.ranks):
        files.append(Path(folder) / f"{prefix}{rank}")
        files[-1].write_bytes(pickle.dumps(of_rank(trace, rank, names)))
    return files


def reader(folder: str | Path, prefix: str = PREFIX) -> str:
    """The command that analyses the dumps in ``folder``."""
    named = "" if prefix == PREFIX else f" -p {shlex.quote(prefix)}"
    return f"python -m torch.distributed.flight_recorder.fr_trace {shlex.quote(str(folder))}{named}"


def of_rank(trace: Trace, rank: int, names: dict[Group, str]) -> dict[str, Any]:
    """The dump of one rank. ``names``: of all groups of the run."""
    seen: Counter[Group] = Counter()  # the rank's operations on each group
    entries: list[dict[str, Any]] = []
    for event in filter(is_told, trace.of_rank(rank)):
        group = group_of(event, trace)
        seen[group] += 1
        entries.append(entry(event, len(entries), seen[group], names[group], group))
    mine = {name: group for group, name in names.items() if rank in group[1]}
    config = {name: {"name": name, "desc": desc, "ranks": str(list(ranks))} for name, (desc, ranks) in mine.items()}
    return {"version": VERSION, "entries": entries, "pg_config": config, "pg_status": {}, "comm_lib_version": ""}


def entry(event: Event, record: int, sequence: int, name: str, group: Group) -> dict[str, Any]:
    done = event.message is not None  # its other ends were posted
    taken, given = sizes(event, len(group[1]))
    is_message = event.kind in POINT_TO_POINT
    return {
        "record_id": record,
        "pg_id": int(name),
        "process_group": (name, group[0]),
        "collective_seq_id": sequence,
        "p2p_seq_id": sequence if is_message else 0,
        "op_id": sequence,
        "is_p2p": is_message,
        "profiling_name": f"nccl:{event.kind}{ends(event, group)}",
        "input_sizes": [[taken]],
        "output_sizes": [[given]],
        "input_dtypes": ["Byte"],
        "output_dtypes": ["Byte"],
        "state": "completed" if done else "scheduled",
        "time_created_ns": round(event.posted * NANOSECONDS),
        "time_discovered_started_ns": round(event.start * NANOSECONDS) if done else None,
        "time_discovered_completed_ns": round(event.end * NANOSECONDS) if done else None,
        "retired": done,
        "timeout_ms": TIMEOUT,
        "frames": [{"name": event.kind, "filename": event.where, "line": ""}],
    }


def sizes(event: Event, ranks: int) -> tuple[int, int]:
    """Bytes that an operation takes as its input, and gives as its output, on each rank."""
    if event.kind not in (*GATHERS, *SCATTERS):
        return event.nbytes, event.nbytes
    is_part = event.kind in ("gather", "scatter") and event.rank != event.peer  # only the root has all of it
    part = event.nbytes if is_part else event.nbytes // ranks
    return (part, part * ranks) if event.kind in GATHERS else (part * ranks, part)


def ends(event: Event, group: Group) -> str:
    """Sender and receiver of a message, as the recorder names them: by their places among the group's sorted ranks."""
    if event.kind not in POINT_TO_POINT:
        return ""
    ranks = sorted(group[1])
    me, other = ranks.index(event.rank), ranks.index(event.peer or 0)
    return f" {me}->{other}" if event.kind == "send" else f" {me}<-{other}"


def is_told(event: Event) -> bool:
    """Whether the format can express it."""
    known_peer = event.peer is not None and event.peer >= 0
    return event.kind != "compute" and (known_peer or event.kind not in POINT_TO_POINT)


def groups(trace: Trace) -> set[Group]:
    return {group_of(event, trace) for event in trace.events if is_told(event)}


def world(trace: Trace) -> Group:
    return "default_pg", tuple(range(trace.ranks))


def group_of(event: Event, trace: Trace) -> Group:
    """Of a message: its direction. Of a collective: its ranks."""
    if event.kind in POINT_TO_POINT:
        ends = (event.rank, event.peer or 0)
        source, destination = ends if event.kind == "send" else reversed(ends)
        return f"messages from {source} to {destination}", tuple(sorted(ends))
    if event.group == world(trace)[1]:
        return world(trace)
    return f"ranks {', '.join(map(str, event.group))}", event.group
