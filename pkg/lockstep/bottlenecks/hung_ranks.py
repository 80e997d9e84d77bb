"""Post-mortem of a hang: from the dumps of the flight recorder, one of each rank, the rank at which it began.

Ranks wait in operations, and an operation waits for those of its ranks that have not posted it. Each of these waits in
another operation itself, or in none. So go from operation to operation until one has all of its ranks, and they do not
fit; or until all that is missing is a rank that waits for nobody; or until you are where you were before: a circle. Its
ranks are those that wait in one of its operations and that another one lacks; the rank at fault is where the fewest of
them wait. PyTorch's analyser (``torch.distributed.flight_recorder.fr_trace``) compares the operations of each group in
the same way.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

ABSENT, COLLECTIVE, SIZE, ORDER = CAUSES = "absent", "other collective", "other size", "other order"

Dump = Mapping[str, Any]
Entry = Mapping[str, Any]


class Operation(NamedTuple):
    """The n-th operation of a process group."""

    group: str
    number: int


class Culprit(NamedTuple):
    """The rank at which a hang began; the line of its operation, or of the one that it is missing from; the cause."""

    rank: int
    line: str
    cause: str


def operation(entry: Entry) -> Operation:
    return Operation(entry["process_group"][0], entry["collective_seq_id"])


def line(entry: Entry) -> str:
    return str(entry["frames"][0]["filename"])


def members(dumps: Sequence[Dump | None]) -> dict[str, list[int]]:
    """The ranks of each group, as told by those ranks that left a dump."""
    told = [config for dump in dumps if dump for config in dump["pg_config"].values()]
    return {config["name"]: json.loads(config["ranks"]) for config in told}


def waiting(dumps: Sequence[Dump | None]) -> dict[int, Entry]:
    """For each rank that waits, the entry that it waits in: its last one, which has not completed."""
    last = {rank: dump["entries"][-1] for rank, dump in enumerate(dumps) if dump and dump["entries"]}
    return {rank: entry for rank, entry in last.items() if entry["state"] != "completed"}


def post_mortem(dumps: Sequence[Dump | None]) -> Culprit:
    """The ``Culprit`` of a hang. ``dumps``: of each rank in order, None for a rank that left none; in each of them, a
    rank waits in its last entry only."""
    ranks, waits = members(dumps), waiting(dumps)
    posted: dict[Operation, dict[int, Entry]] = {operation(entry): {} for entry in waits.values()}
    for rank, entry in waits.items():
        posted[operation(entry)][rank] = entry
    seen: list[Operation] = []
    here = next(iter(posted))
    while here not in seen:
        seen.append(here)
        missing = [rank for rank in ranks[here.group] if rank not in posted[here]]
        if not missing:
            return odd_one(posted[here])
        victims = [rank for rank in missing if rank in waits]
        if not victims:
            return Culprit(missing[0], line(next(iter(posted[here].values()))), ABSENT)
        here = operation(waits[victims[0]])
    circle = seen[seen.index(here) :]
    lacked = {rank for one in circle for rank in ranks[one.group] if rank not in posted[one]}
    rank = min(([rank for rank in posted[one] if rank in lacked] for one in circle), key=len)[0]
    return Culprit(rank, line(waits[rank]), ORDER)


def odd_one(posted: Mapping[int, Entry]) -> Culprit:
    """Of ranks that all posted an operation, the one whose collective, or whose size, is another."""
    for cause, key in ((COLLECTIVE, "profiling_name"), (SIZE, "input_sizes")):
        times = Counter(str(entry[key]) for entry in posted.values())
        for rank, entry in posted.items():
            if len(times) > 1 and times[str(entry[key])] == 1:
                return Culprit(rank, line(entry), cause)
    raise ValueError("All ranks of this operation posted the same: nothing in their entries says why it hangs.")
