"""The errors found while a kernel ran, each with its line and its threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lockstep.simt.profile import LineCounts

Kind = Literal[
    "race",  # two threads at one element with no barrier between, one of them writes
    "divergent_barrier",  # a barrier that not all threads of the block come to together
    "out_of_bounds",  # an index outside of the array: the machine reads nothing there and writes nothing
    "negative_index",  # numba counts from the end, CUDA C leaves the array: hardly ever what was meant
    "uninitialised_read",  # of shared or local memory, or of a variable, that nothing was written to
    "inactive_lane",  # a shuffle or vote that asks for lanes which do not take part
]
Coordinates = tuple[int, int, int]  # x, y, z
SHOWN = 8  # threads that a finding names


class Thread(NamedTuple):
    """One thread of the grid. ``str`` leaves out coordinates that are 0 throughout."""

    block: Coordinates
    thread: Coordinates

    @property
    def short(self) -> str:
        return f"thread {short(self.thread)}"

    def __str__(self) -> str:
        return f"{self.short} of block {short(self.block)}"


def short(coordinates: Coordinates) -> str:
    x, y, z = coordinates
    return f"({x}, {y}, {z})" if z else f"({x}, {y})" if y else str(x)


@dataclass(frozen=True)
class Finding:
    """One error at one place; ``times`` is how often it occurred there."""

    kind: Kind
    line: int
    message: str
    threads: tuple[Thread, ...] = ()  # the first few
    array: str = ""
    other_line: int = 0  # of a race: the line of the other thread
    times: int = 1

    def __str__(self) -> str:
        return self.message


class Findings:
    """Collects findings: the same error at the same place is reported once, with its first message, and counted."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], Finding] = {}

    def add(
        self,
        kind: Kind,
        line: LineCounts,
        told: str,
        threads: Sequence[Thread] = (),
        array: str = "",
        other: LineCounts | None = None,
        times: int = 1,
    ) -> None:
        """``told``: the sentence, without its line; ``other``: of a race, the line of the other thread."""
        key = kind, line.place, other.place if other else "", array
        before = self._found.get(key)
        if before is None:
            message, shown = f"L{line.place[1:]}: {told}", tuple(threads)[:SHOWN]
            other_line = other.number if other else 0
            self._found[key] = Finding(kind, line.number, message, shown, array, other_line, times)
        else:
            object.__setattr__(before, "times", before.times + times)

    def listed(self) -> list[Finding]:
        return sorted(self._found.values(), key=lambda finding: finding.line)
