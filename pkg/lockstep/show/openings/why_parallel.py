"""One job of which a part cannot be divided, on more and more workers: its hours, to scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lockstep.cost.speedup import amdahl
from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, box, card, key

SERIAL, HOURS = 0.2, 10.0  # share that one worker has to do alone; hours of one worker
WORKERS = (1, 2, 4, 8)
LEFT, SCALE, ROW = 104.0, 42.0, 30.0
ALONE, DIVIDED = palette.ROLES["marked"], palette.ROLES["work"]  # as in the lesson's own figure of this law


def hours(workers: int) -> float:
    return HOURS / amdahl(1 - SERIAL, workers)


def draw() -> str:
    entries = ((ALONE, "one worker does it alone"), (DIVIDED, "divided among all workers"))
    told = (
        f"A job of {HOURS:g} hours, {HOURS * SERIAL:g} of which cannot be divided, as bars to scale. "
        + ", ".join(f"{n} workers: {hours(n):g} hours" if n > 1 else f"1 worker: {hours(n):g} hours" for n in WORKERS)
        + ". The part that cannot be divided stays."
    )
    body = [*_rows(), *key(entries, EDGE, 190)]
    return card(204, "Divide the work: what remains?", told, body)


def _rows() -> Iterator[str]:
    for row, workers in enumerate(WORKERS):
        y = 42 + ROW * row
        yield svg.text(EDGE, y + 15, f"{workers} worker{'s' if workers > 1 else ''}")
        alone, total = SCALE * HOURS * SERIAL, SCALE * hours(workers)
        yield box(LEFT, y, alone, ROW - 8, fill=ALONE)
        yield box(LEFT + alone + 1, y, total - alone - 1, ROW - 8, fill=DIVIDED)
        x = LEFT + total + 8 if workers > 1 else LEFT + total - 8
        look: dict[str, Any] = (
            {"fill": palette.text_on(DIVIDED), "text_anchor": "end"} if workers == 1 else {"fill": palette.INK}
        )
        yield svg.text(x, y + 15, f"{hours(workers):g} h", **look)
