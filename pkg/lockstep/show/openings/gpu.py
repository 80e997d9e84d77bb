"""A warp whose lanes part, recorded on the warp machine: which lanes are at work in each instruction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import cuda

from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, card, key
from lockstep.simt import Launch, Step, launch

LANES, LEFT, ROW = 32, 150.0, 24.0
CELL = (svg.WIDTH - LEFT - EDGE) / LANES
ON, OFF = palette.ROLES["marked"], palette.COLOURS["compute"]


def parted(values: Any) -> None:
    i = cuda.grid(1)
    if i % 2 == 0:
        values[i] = 1
    else:
        values[i] = 2


def recorded() -> Launch:
    """A run of the picture's kernel; ``show.warp`` steps through it."""
    return launch(parted, 1, LANES, np.zeros(LANES, np.float32), record=(0, 0))


def steps() -> list[tuple[str, Step]]:
    """Each line's last instruction, with the line."""
    launched = recorded()
    lines = {line.number: line.text.strip() for line in launched.lines}
    last = {step.line: step for step in launched.steps or ()}
    return [(lines[number], step) for number, step in sorted(last.items())]


def draw() -> str:
    found = steps()
    counts = ", ".join(str(step.mask.bit_count()) for _, step in found)
    told = (
        "A warp of 32 lanes, line by line of a kernel. At an if, the even lanes go one way and the odd ones the other, "
        f"one way after the other. Lanes at work in its lines: {counts}."
    )
    bottom = 50 + ROW * len(found)
    entries = ((ON, "at work"), (OFF, "switched off"))
    return card(
        bottom + 26, "32 lanes, one instruction at a time", told, [*_rows(found), *key(entries, EDGE, bottom + 12)]
    )


def _rows(found: list[tuple[str, Step]]) -> Iterator[str]:
    for row, (line, step) in enumerate(found):
        y = 42 + ROW * row
        yield svg.text(EDGE, y + 14, line, font_family=svg.MONO)
        for lane in range(LANES):
            fill = ON if step.mask >> lane & 1 else OFF
            yield svg.element("rect", x=LEFT + CELL * lane, y=y, width=CELL - 2, height=ROW - 6, rx=2, fill=fill)
