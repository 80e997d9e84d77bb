"""assignment(): which worker computes which rows, and who is idle at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lockstep.classical.assignment import Assigned, loads, longest
from lockstep.show import motion, palette, svg
from lockstep.show.player import Player, with_clock

LEFT, RIGHT, TOP = 74.0, 96.0, 18.0
ROW, GAP, HEAD = 15.0, 4.0, 26.0
BLOCK = palette.ROLES["work"]

Span = tuple[int, int, float, float]  # worker, row, begin, end


class Assignment(Player):
    """The drawing with a clock, which stops whenever a row is done. See ``assignment``."""

    label = "Who computes which rows"
    pause = 300

    def __init__(self, drawing: str, words: str, ends: Sequence[float]) -> None:
        sheet = with_clock(drawing, words, motion.moments(ends, max(ends, default=0.0)), "steps of the loop")
        super().__init__(sheet.frames, sheet.captions, moments=sheet.moments)

    def caption(self) -> str:
        return self.captions[-1]


def assignment(costs: Sequence[float], ways: Mapping[str, Assigned]) -> Assignment:
    """Which worker computes which row when, for each of ``ways``: name → the rows of each worker, in order. ``costs``:
    of each row. A lane for each worker, a block for each row."""
    spans = {name: spans_of(costs, assigned) for name, assigned in ways.items()}
    most = max(longest(costs, assigned) for assigned in ways.values())
    told = [
        f"{name}: the busiest worker takes {longest(costs, a):,.0f}, the least busy one {min(loads(costs, a)):,.0f}"
        for name, a in ways.items()
    ]
    words = f"Who computes which of {len(costs)} rows. {'. '.join(told)}."
    body, y = list[str](), TOP
    for name, assigned in ways.items():
        head = f"{name}: done after {longest(costs, assigned):,.0f} steps"
        body += _lanes(head, len(assigned), spans[name], most, y)
        y += HEAD + len(assigned) * (ROW + GAP) + 8
    body.append(motion.hand(LEFT, (svg.WIDTH - LEFT - RIGHT) / (most or 1.0), TOP + 6, y - 8))
    ends = [end for way in spans.values() for *_, end in way]
    return Assignment(svg.document(svg.WIDTH, y, "Who computes which rows", words, body), words, ends)


def drawn(workers: int, spans: Sequence[Span], setting: str) -> str:
    """The picture of one run: who began which row, and when."""
    most = max((end for *_, end in spans), default=1.0)
    body = list(_lanes(setting, workers, spans, most, TOP))
    height = TOP + HEAD + workers * (ROW + GAP) + 8
    told = f"{setting}: {len(spans)} rows were started, and the last was done after {most:,.0f} steps."
    return svg.document(svg.WIDTH, height, "Who computed which rows", told, body)


def spans_of(costs: Sequence[float], assigned: Assigned) -> list[Span]:
    """When each row is computed, by workers that never wait."""
    found: list[Span] = []
    for worker, rows in enumerate(assigned):
        time = 0.0
        for row in rows:
            found.append((worker, row, time, time + costs[row]))
            time += costs[row]
    return found


def _lanes(head: str, workers: int, spans: Sequence[Span], most: float, y: float) -> Iterator[str]:
    yield svg.named(8, y, head, svg.WIDTH - 16, font_weight=600)
    scale = (svg.WIDTH - LEFT - RIGHT) / (most or 1.0)
    for worker in range(workers):
        top = y + HEAD - 14 + worker * (ROW + GAP)
        mine = [span for span in spans if span[0] == worker]
        yield svg.text(8, top + 12, f"worker {worker}")
        yield svg.lane(LEFT, top, svg.WIDTH - LEFT - RIGHT, ROW)
        for _, row, begin, end in mine:
            width = max(0.5, (end - begin) * scale - 1)
            name = svg.title(f"row {row}: {end - begin:,.0f} steps")
            block = svg.bar(LEFT + begin * scale, top, width, ROW, end - begin, name, fill=BLOCK)
            yield motion.lasting(begin, end, block)
        yield svg.text(svg.WIDTH - RIGHT + 8, top + 12, f"{len(mine)} row{'s' if len(mine) != 1 else ''}")
