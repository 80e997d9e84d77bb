"""Processes copy their data, threads share it; and three settings say how many there are."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, arrow, box, card

DATA, PROCESS, THREAD = palette.ROLES["marked"], palette.LANE, palette.ROLES["work"]
TOLD = (
    "A program fits an estimator with n_jobs=2: two processes, and each gets a copy of the data. Inside each process, "
    "two threads of OpenMP or BLAS compute and share that copy."
)


def draw() -> str:
    body = [
        box(EDGE, 58, 110, 92, fill=PROCESS),
        svg.text(EDGE + 55, 76, "your program", text_anchor="middle"),
        box(EDGE + 14, 92, 82, 40, "data", DATA),
        *(part for number in range(2) for part in _process(number, 40 + 78 * number)),
        svg.faint(EDGE, 206, "n_jobs: how many processes."),
        svg.faint(238, 206, "OpenMP, BLAS: how many threads in each."),
    ]
    return card(220, "Processes copy, threads share", TOLD, body)


def _process(number: int, y: float) -> Iterator[str]:
    yield box(238, y, 288, 70, fill=PROCESS)
    yield svg.text(248, y + 18, f"process {number + 1}")
    yield box(250, y + 26, 82, 36, "data", DATA)
    for thread in range(2):
        top = y + 10 + 30 * thread
        yield box(424, top, 90, 22, f"thread {thread + 1}", THREAD)
        yield arrow(336, y + 44, 420, top + 11)
    yield arrow(EDGE + 114, 112, 234, y + 44, "copy")
