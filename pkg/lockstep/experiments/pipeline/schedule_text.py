"""A schedule as text: a row for each stage, a column for each unit of time. For terminals and tests.

    F0 F1 F2 .. .. .. .. B2 B1 B0
    .. F0 F1 F2 .. .. B2 B1 B0 ..
    .. .. F0 F1 F2 B2 B1 B0 .. ..

F forward, R recompute, B backward, D its first half (the gradient of the input), W its second half (those of the
weights). A chunk other than the first follows as a letter: F0, F0b, F0c. A pass longer than a unit is continued with
``==``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase

from lockstep.pipeline.instructions import (
    Backward,
    BackwardInput,
    BackwardWeights,
    Forward,
    Instruction,
    Recompute,
    Step,
    Stream,
)
from lockstep.pipeline.simulate import Interval, Times, simulate

LETTERS: Mapping[type, str] = {Forward: "F", Recompute: "R", Backward: "B", BackwardInput: "D", BackwardWeights: "W"}


def drawn(streams: Sequence[Stream], times: Times | None = None) -> str:
    """The streams of all stages, simulated. By default every pass takes one unit of time."""
    return picture(simulate(streams, times or Times.equal()), len(streams))


def picture(intervals: Sequence[Interval], stages: int) -> str:
    """The rows for intervals that begin and end at whole units of time."""
    intervals = [i for i in intervals if i.end > i.start]
    width = round(max((i.end for i in intervals), default=0))
    rows = [[".."] * width for _ in range(stages)]
    for i in intervals:
        rows[i.stage][round(i.start) : round(i.end)] = [label(i.step), *["=="] * (round(i.end - i.start) - 1)]
    wide = max((len(cell) for row in rows for cell in row), default=2)
    return "\n".join(" ".join((cell if cell != ".." else "." * wide).ljust(wide) for cell in row) for row in rows)


def label(step: Step) -> str:
    if not isinstance(step, Instruction):
        return "U"
    chunk = ascii_lowercase[step.chunk % 26] if step.chunk else ""
    return f"{LETTERS[type(step)]}{step.micro_batch}{chunk}"
