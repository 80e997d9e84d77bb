"""Four ranks, one of them at half speed: the steps that they make in the same time, with and without waiting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, box, card, key

STEPS = (1.0, 1.0, 1.0, 2.0)  # time that each rank needs for a step
UNTIL, LEFT, ROW = 6.0, 78.0, 17.0
SCALE = (svg.WIDTH - LEFT - EDGE) / UNTIL
STEP, WAIT = palette.ROLES["work"], palette.LANE


def draw() -> str:
    waiting, free = _starts(max(STEPS)), _starts(0.0)
    counts = [sum(map(len, starts)) for starts in (waiting, free)]
    told = (
        f"Four ranks in the same time, to scale; rank 3 needs twice as long for a step. Above, all wait for all: "
        f"{counts[0]} steps. Below, nobody waits: {counts[1]} steps, but with gradients of older weights."
    )
    body = [
        *_block(f"all wait for the slowest: {counts[0]} steps", waiting, 50, max(STEPS)),
        *_block(f"nobody waits: {counts[1]} steps, of older weights", free, 146, 0.0),
        *key(((STEP, "a step"), (WAIT, "waits")), EDGE, 244),
    ]
    return card(258, "What does waiting cost?", told, body)


def _starts(pace: float) -> list[list[float]]:
    """When each rank begins its steps; with a pace, all begin together."""
    found = []
    for seconds in STEPS:
        every = max(pace, seconds)
        found.append([every * n for n in range(int(UNTIL / every))])
    return found


def _block(words: str, starts: Sequence[Sequence[float]], top: float, pace: float) -> Iterator[str]:
    yield svg.text(LEFT, top, words)
    for rank, mine in enumerate(starts):
        y = top + 7 + ROW * rank
        yield svg.text(EDGE, y + 12, f"rank {rank}")
        yield box(LEFT, y, SCALE * UNTIL, ROW - 3, fill=WAIT)
        for start in mine:
            yield box(LEFT + SCALE * start, y, SCALE * STEPS[rank] - 1.5, ROW - 3, fill=STEP)
    if pace:
        for n in range(1, int(UNTIL / pace)):
            x = LEFT + SCALE * pace * n - 0.75
            yield svg.line(x, top + 5, x, top + 7 + ROW * len(starts), stroke=palette.INK, stroke_width=2)
