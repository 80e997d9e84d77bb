"""Measurements on real processes of this machine: how many ranks, how they are run, and which rank's time counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from lockstep.bench.timing import Size
from lockstep.launch import processes
from lockstep.launch.job import Job
from lockstep.this_machine.host import cores

Name = TypeVar("Name")

RANKS: Mapping[Size, tuple[int, ...]] = {"quick": (2,), "normal": (2, 4), "full": (2, 4, 8)}


def by_rank(function: Callable[..., Any], arguments: tuple[Any, ...], ranks: int) -> Sequence[Any]:
    """What ``function`` returns on each of ``ranks`` processes. Nothing is recorded: recording costs time."""
    job = Job.pack(function, arguments, {}, ranks, timeout=600.0, record=False)
    return processes.run_processes(job).values


def slowest(found: Sequence[Mapping[Name, Sequence[float]]]) -> dict[Name, list[float]]:
    """``found`` has the seconds of each repeat on each rank, by name. What ranks do together is done when the slowest
    of them is."""
    return {name: list(map(max, zip(*(of_rank[name] for of_rank in found), strict=True))) for name in found[0]}


def crowded(ranks: int) -> list[str]:
    """The note of a table where ranks share cores, if they do."""
    if ranks <= cores().usable:
        return []
    return [f"{ranks} ranks share {cores().usable} cores: waiting for a turn of a core is in these times."]
