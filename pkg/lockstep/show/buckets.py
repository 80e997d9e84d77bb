"""buckets(): gradients on their way under the backward pass, as one rank of a run recorded them.

Above, what the rank computes, cut where a bucket was full and its all-reduce was posted; below, the all-reduces. What
is left of them when the computing ends, the step waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from lockstep.errors import UsageError
from lockstep.events import Event, Outcome
from lockstep.show import motion, palette, quantities, svg
from lockstep.show.player import Player
from lockstep.show.quantities import count

LEFT, RIGHT, TOP, TALL, ROW = 76.0, 14.0, 62.0, 26.0, 44.0
COMPUTE, TRAVEL = palette.colour("Backward"), palette.colour("all_reduce")
Span = tuple[float, float]  # seconds


@dataclass(frozen=True)
class Step:
    """A rank's all-reduces, in the order in which they were posted."""

    travels: Sequence[Event]

    @cached_property
    def computed(self) -> float:
        """When the last gradient was there: its bucket was posted then."""
        return max(e.posted for e in self.travels)

    @cached_property
    def total(self) -> float:
        return max(e.end for e in self.travels)

    @cached_property
    def parts(self) -> list[Span]:
        """What was computed until each bucket was full."""
        return list(pairwise([0.0, *(e.posted for e in self.travels)]))

    def words(self) -> str:
        took = sum(e.duration for e in self.travels)
        waited = self.total - self.computed
        return (
            f"{count(len(self.travels), 'bucket')}. Their all-reduces take {quantities.seconds(took)}; the step waits "
            f"for the last {quantities.seconds(waited)}, after all gradients are computed."
        )

    def at(self, moment: float) -> str:
        """What is under way just before ``moment``."""
        done = sum(e.end <= moment for e in self.travels)
        number = next((n for n, e in enumerate(self.travels, 1) if e.start < moment <= e.end), 0)
        full = next((n for n, (begin, end) in enumerate(self.parts, 1) if begin < moment <= end), 0)
        computes = f"computes what fills bucket {full}" if full else "computes nothing"
        travels = f"bucket {number} travels" if number else "none travels"
        return (
            f"{quantities.seconds(moment)}: the rank {computes}; {travels}; {done} of {len(self.travels)} are summed."
        )


class Buckets(Player):
    """The drawing with a clock, which stops where a bucket is full and where one is summed. See ``buckets``."""

    label = "Buckets under the backward pass"
    pause = 900

    def __init__(self, step: Step) -> None:
        times = motion.moments([t for e in step.travels for t in (e.posted, e.end)], step.total)
        super().__init__([draw(step)], [*(step.at(t) for t in times[:-1]), step.words()], moments=times)

    def caption(self) -> str:
        return f"{self.label}. {self.captions[-1]}"


def buckets(result: Outcome, rank: int = 0) -> Buckets:
    """One backward pass of ``rank`` in the run ``result``, which all-reduces its gradients in buckets.

    Raises UsageError for a run without all-reduces."""
    travels = [e for e in result.trace.of_rank(rank) if e.kind == "all_reduce"]
    if not travels:
        raise UsageError(f"Rank {rank} made no all-reduce in this run.", "Give a run that reduces its gradients.")
    return Buckets(Step(travels))


def draw(step: Step) -> str:
    head, told = svg.text(14, 26, "Gradients travel while earlier layers compute", 14, font_weight=600), step.words()
    lines = svg.wrapped(told, svg.WIDTH - 28)
    body = [
        head,
        *(svg.faint(14, 46 + 16 * n, line) for n, line in enumerate(lines)),
        *_lanes(step, TOP + 16 * len(lines) - 16),
    ]
    return svg.document(svg.WIDTH, TOP + 16 * len(lines) - 16 + 2 * ROW + 34, "Buckets", told, body)


def _lanes(step: Step, top: float) -> Iterator[str]:
    scale = (svg.WIDTH - LEFT - RIGHT) / step.total
    for row, name in enumerate(("computes", "travels")):
        y = top + ROW * row
        yield svg.text(14, y + 17, name)
        yield svg.lane(LEFT, y, svg.WIDTH - LEFT - RIGHT, TALL)
    for number, (begin, end) in enumerate(step.parts, 1):
        yield _bar(begin, end, top, scale, COMPUTE, f"for {number}" if number > 1 else "forward, and for 1")
    for number, e in enumerate(step.travels, 1):
        full = LEFT + scale * e.posted
        if e.start > e.posted:
            yield svg.line(full, top + TALL, full, top + ROW, stroke=palette.FAINT, stroke_dasharray="3 2")
        else:
            yield svg.arrow(full, top + TALL, full, top + ROW - 1, head=6)
        yield _bar(e.start, e.end, top + ROW, scale, TRAVEL, str(number))
    end = LEFT + scale * step.computed
    yield svg.line(end, top - 4, end, top + ROW + TALL + 6, stroke_dasharray="5 3")
    yield svg.faint(min(end + 4, svg.WIDTH - RIGHT - 40), top + 17, "waits")
    yield from _axis(step, top + ROW + TALL, scale)
    yield motion.hand(LEFT, scale, top - 4, top + ROW + TALL)


def _bar(begin: float, end: float, y: float, scale: float, fill: str, words: str) -> str:
    width = scale * (end - begin) - 1
    box = svg.bar(LEFT + scale * begin, y, max(0.5, width), TALL, end - begin, rx=2, fill=fill)
    middle = LEFT + scale * (begin + end) / 2
    fitting = next((told for told in (words, words.split()[-1]) if width > svg.length(told) + 4), "")
    label = svg.text(middle, y + 17, fitting, text_anchor="middle", fill=palette.text_on(fill))
    return motion.lasting(begin, end, svg.title(f"{words}: {quantities.seconds(end - begin)}"), box, label)


def _axis(step: Step, y: float, scale: float) -> Iterator[str]:
    unit, name = quantities.time_unit(step.total)
    for tick in quantities.ticks(0.0, step.total / unit, 6):
        x = LEFT + scale * tick * unit
        yield svg.line(x, y, x, y + 4, stroke=palette.FAINT)
        told = f"{tick:g}"
        yield svg.faint(min(x, svg.WIDTH - 2 - svg.length(told) / 2), y + 18, told, text_anchor="middle")
    yield svg.faint(14, y + 18, name)
