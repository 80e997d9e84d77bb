"""Dumps of runs that hang: the recorded ones, with other ranks, names, numbers and lines; and runs of a few ranks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from random import Random
from typing import Any

from lockstep.experiments.bottlenecks.incidents import INCIDENTS, KEPT, Dump, dumps_of, recorded

Dumps = list[Dump | None]
Calls = list[tuple[Dumps]]
SECOND = "broadcast"


def varied(dumps: Dumps, dice: Random) -> Dumps:
    """The same incident: ranks and groups are renumbered, each group's operations are counted from another number, the
    program's lines stand further down, and each rank's recorder has kept fewer entries."""
    ranks = list(range(len(dumps)))
    dice.shuffle(ranks)
    names = sorted({name for dump in dumps if dump for name in dump["pg_config"]})
    others = dict(zip(names, map(str, dice.sample(range(1, 1000), len(names))), strict=True))
    later = {name: dice.randint(0, 5000) for name in names}
    further = dice.randint(3, 80)
    found: Dumps = [None] * len(dumps)
    for rank, dump in enumerate(dumps):
        if dump is None:
            continue
        members = {n: sorted(ranks[r] for r in json.loads(g["ranks"])) for n, g in dump["pg_config"].items()}
        kept = deepcopy(dump["entries"][-dice.randint(2, KEPT) :])
        for entry in kept:
            _renumber(entry, ranks[rank], members, others, later, further)
        config = {others[n]: {"name": others[n], "ranks": json.dumps(own)} for n, own in members.items()}
        found[ranks[rank]] = {**dump, "pg_config": config, "entries": kept}
    return found


def _renumber(
    entry: Dump, rank: int, members: dict[str, list[int]], others: dict[str, str], later: dict[str, int], further: int
) -> None:
    name, description = entry["process_group"]
    entry["process_group"] = [others[name], description]
    entry["collective_seq_id"] += later[name]
    frame = entry["frames"][0]
    frame["filename"] = re.sub(r"line (\d+)", lambda found: f"line {int(found[1]) + further}", frame["filename"])
    if entry["is_p2p"]:
        entry["p2p_seq_id"] = entry["collective_seq_id"]
        me = members[name].index(rank)
        entry["profiling_name"] = f"nccl:{frame['name']} {me}{'->' if frame['name'] == 'send' else '<-'}{1 - me}"


def row(
    group: str, number: int, line: int, kind: str = "all_reduce", nbytes: int = 64, done: bool = False
) -> list[Any]:
    """An entry of a small run, as the file of the incidents has it."""
    state = "completed" if done else "scheduled"
    where = f"small.py, line {line}, in main"
    return [group, number, False, f"nccl:{kind}", [[nbytes]], [[nbytes]], state, kind, where]


def small(groups: dict[str, list[int]], *of_ranks: list[list[Any]] | None) -> Dumps:
    """The dumps of a run, from the entries of each rank."""
    entries = [one for own in of_ranks for one in own or ()]
    ranks = [None if own is None else [entries.index(one) for one in own] for own in of_ranks]
    return dumps_of({"groups": groups, "entries": entries, "ranks": ranks})


def two_or_three(dice: Random) -> Calls:
    """One of two ranks that has posted nothing; each of three that calls another collective, of the same size or of
    another one, or has an input of another size."""
    line, two, three = dice.randint(5, 50), {"0": [0, 1]}, {"0": [0, 1, 2]}
    before, one = row("0", 1, line, done=True), row("0", 2, line)
    found = [(small(two, [one], []),), (small(two, [], [one]),)]
    for kind, nbytes in ((SECOND, 64), (SECOND, dice.choice((60, 68))), ("all_reduce", 60), ("all_reduce", 68)):
        other = row("0", 2, line + (kind == SECOND), kind, nbytes)
        found += [(small(three, *([before, other if rank == odd else one] for rank in range(3))),) for odd in range(3)]
    return found


def circles(dice: Random) -> Calls:
    """A rank that the others wait for, and that waits for all of them; one beside which more ranks wait, which are not
    in the circle; and a circle of three operations."""
    line, ranks = dice.randint(5, 50), dice.randint(4, 8)
    odd = dice.randrange(1, ranks)
    first, second, third = (row(str(n), 4, line + n) for n in range(3))
    everyone = {name: list(range(ranks)) for name in "01"}
    beside = {"0": [0, 1, 2], "1": list(range(ranks + 2))}
    three = {"0": [0, 1, 2, 6], "1": [0, 1, 3, 4], "2": [2, 3, 4, 5, 7, 8]}
    runs = [
        small(everyone, *([second if rank == odd else first] for rank in range(ranks))),
        small(beside, [first], [first], *[[second]] * ranks),
        small(three, [first], [first], [third], [second], [second], [third], [first], [third], [third]),
    ]
    return [(one,) for run in runs for one in (run, varied(run, dice), varied(run, dice))]


def far_away(dice: Random) -> Calls:
    """A chain of groups of two: each rank waits for the next one, and the last one for a rank that is not there."""
    ranks, found = dice.randint(5, 9), []
    groups = {str(n): [n, n + 1] for n in range(ranks - 1)}
    own = [[row(str(n), 7, 20 + n)] for n in range(ranks - 1)]
    for last in ([row(str(ranks - 2), 6, 90, done=True)], None):
        found.append((small(groups, *own, last),))
        found.append((varied(found[-1][0], dice),))
    return found


def of_day(day: str, dice: Random) -> Calls:
    """As it was recorded, and varied."""
    return [(recorded(day),), (varied(recorded(day), dice),)]


TRIED: dict[str, Callable[[Random], Calls]] = {
    **{f"{day}'s dumps": partial(of_day, day) for day in INCIDENTS},
    "two or three ranks": two_or_three,
    "a long chain of ranks": far_away,
    "small circles": circles,
}
