"""additions(): additions in a core, cycle by cycle: a lane for each accumulator, a block for each addition."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.cpu.instruction_level_parallelism import begins
from lockstep.errors import UsageError
from lockstep.show import motion, palette, svg
from lockstep.show.player import Player, with_clock

LEFT, RIGHT, TOP, ROW, LANE, GAP = 14.0, 14.0, 22.0, 15.0, 12.0, 34.0
MOST = 16  # accumulators
COLOUR = palette.ROLES["work"]


class Additions(Player):
    """The drawing with a clock, cycle by cycle. See ``additions``."""

    label = "Additions in a core, cycle by cycle"
    unit = "cycle"
    pause = 300

    def __init__(self, drawing: str, words: str, cycles: int) -> None:
        sheet = with_clock(drawing, words, motion.moments(range(1, cycles), cycles), "cycles")
        super().__init__(sheet.frames, sheet.captions, moments=sheet.moments)

    def caption(self) -> str:
        return self.captions[-1]


def additions(accumulators: int, latency: int = 4, ports: int = 2, number: int = 24) -> Additions:
    """``number`` additions with one accumulator, and below with ``accumulators``, on the same scale. An addition takes
    ``latency`` cycles; the core begins at most ``ports`` in each.

    Raises UsageError unless there are 1 to 16 accumulators."""
    if not isinstance(accumulators, int) or not 1 <= accumulators <= MOST:
        raise UsageError(f"The picture has room for 1 to {MOST} accumulators, not {accumulators!r}.")
    least = {k: begins(number, k, latency, ports) for k in (1, accumulators)}
    scale = (svg.WIDTH - LEFT - RIGHT) / (max(least[1]) + latency)
    body, y = list[str](), TOP
    for k, begun in least.items():
        body += _lanes(k, begun, latency, scale, y)
        y += k * ROW + GAP
    told = ". ".join(_told(k, begun, latency) for k, begun in least.items())
    head = f"{number} additions of {latency} cycles; {ports} may begin in a cycle"
    body.append(motion.hand(LEFT, scale, TOP + 4, y - GAP + 4))
    return Additions(svg.document(svg.WIDTH, y - 6, head, told, body), f"{head}. {told}.", max(least[1]) + latency)


def _lanes(k: int, begun: list[int], latency: int, scale: float, y: float) -> Iterator[str]:
    yield svg.text(LEFT, y, _told(k, begun, latency))
    for lane in range(k):
        yield svg.lane(LEFT, y + 8 + lane * ROW, svg.WIDTH - LEFT - RIGHT, LANE)
    for i, cycle in enumerate(begun):
        place = (LEFT + cycle * scale, y + 8 + i % k * ROW, max(0.3, latency * scale - 1), LANE)
        block = svg.bar(*place, latency, rx=1.5, fill=COLOUR, stroke=palette.INK, stroke_width=0.5)
        yield motion.lasting(cycle, cycle + latency, block)


def _told(k: int, begun: list[int], latency: int) -> str:
    return f"{k} accumulator{'s' if k > 1 else ''}: {max(begun) + latency} cycles"
