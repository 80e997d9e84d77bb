"""memory_over_time(): the bytes that a rank holds, by kind, stacked, while its program runs; below it, its collectives.

The course of the bytes is ``events.Memory.samples``, a few hundred moments of a run with the highest and the lowest of
each stretch between. On the virtual cluster the seconds are virtual.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from lockstep.errors import UsageError
from lockstep.events import MEMORY_KINDS, Event, Outcome
from lockstep.show import motion, palette, quantities, svg
from lockstep.show.player import Player

WIDTH = svg.WIDTH
LEFT, RIGHT, TOP, BOTTOM = 70.0, 530.0, 84.0, 296.0
ROOM = 1.14  # how high the axis is, in peaks
BAND = 16.0  # of the phases, above the bytes
NOTCH, DEEP = 2.0, 0.05  # a valley so deep, as a part of the peak, is at least so wide, however short it lasts
LANES, PITCH = 326.0, 13.0  # of the collectives, a lane for each kind
NAME = "Memory of a rank over time"

Sample = tuple[float, tuple[int, ...]]  # seconds, bytes by kind


@dataclass(frozen=True)
class Course:
    """A rank's ``samples`` and ``events`` between two times, in seconds."""

    rank: int
    samples: Sequence[Sample]
    events: Sequence[Event]
    begin: float
    end: float
    phases: Sequence[tuple[float, float, str]] = ()  # from, to, and what it is: "forward", "backward", "update"

    @cached_property
    def peak(self) -> Sample:
        return max(self.samples, key=lambda sample: sum(sample[1]))

    @cached_property
    def kinds(self) -> list[int]:
        """Those that there are, by their place in MEMORY_KINDS."""
        return [kind for kind in range(len(MEMORY_KINDS)) if any(nbytes[kind] for _, nbytes in self.samples)]

    def x(self, seconds: float) -> float:
        return LEFT + (RIGHT - LEFT) * (min(max(seconds, self.begin), self.end) - self.begin) / (self.end - self.begin)

    @cached_property
    def across(self) -> list[float]:
        """The x of each sample. Between two layers, bytes may be freed and allocated at one moment: both are drawn."""
        xs = [self.x(seconds) for seconds, _ in self.samples]
        totals = [sum(nbytes) for _, nbytes in self.samples]
        for i in range(1, len(xs)):
            xs[i] = max(xs[i], xs[i - 1])
            walls = min(totals[i], totals[i - 2]) if i > 1 else 0
            if walls - totals[i - 1] > DEEP * sum(self.peak[1]):
                xs[i] = min(max(xs[i], xs[i - 1] + NOTCH), RIGHT)
        return xs

    def y(self, nbytes: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * nbytes / (ROOM * sum(self.peak[1]))


class MemoryOverTime(Player):
    """The drawing with a clock, which stops where a collective begins or ends. See ``memory_over_time``."""

    label = NAME
    pause = 400

    def __init__(self, course: Course) -> None:
        ends = {e.posted for e in course.events} | {e.end for e in course.events} or {at for at, _ in course.samples}
        times = motion.moments((seconds - course.begin for seconds in ends), course.end - course.begin)
        told = [held(course, course.begin + seconds) for seconds in times[:-1]]
        super().__init__([draw(course)], [*told, words(course)], moments=times)

    def caption(self) -> str:
        return f"{NAME}: {self.captions[-1]}"


def memory_over_time(result: Outcome, rank: int = 0, since: float = 0.0, until: float = math.inf) -> MemoryOverTime:
    """What ``rank`` held in the run ``result``, from the second ``since`` to ``until``, by kind. Two steps are better
    than one: what is the optimizer's shows after its first.

    Raises UsageError for a rank that did not run, and for a time in which nothing happened."""
    if not 0 <= rank < len(result.memory):
        raise UsageError(f"This run has the ranks 0 to {len(result.memory) - 1}, not {rank}.")
    return MemoryOverTime(_between(result, rank, since, until))


def _between(result: Outcome, rank: int, since: float, until: float) -> Course:
    samples = result.memory[rank].samples
    end = min(until, result.time)
    inside = [sample for sample in samples if since <= sample[0] <= end]
    if end <= since or not inside or not any(map(sum, (nbytes for _, nbytes in inside))):
        raise UsageError(f"Rank {rank} held nothing between {since:g} s and {end:g} s.", "Choose another time.")
    before = [(since, nbytes) for seconds, nbytes in samples if seconds < since][-1:]
    events = [e for e in result.trace.of_rank(rank) if e.kind != "compute" and e.end > since and e.posted < end]
    marks = [*result.memory[rank].phases, (end, "")]
    phases = [(max(a, since), min(b, end), name) for (a, name), (b, _) in pairwise(marks) if a < end and b > since]
    return Course(rank, [*before, *inside], events, since, end, phases)


# ---- the drawing


def draw(course: Course) -> str:
    kinds = palette.in_order(e.kind for e in course.events)
    body = [
        svg.text(14, 26, f"What rank {course.rank} holds", 14, font_weight=600),
        *_legend([(MEMORY_KINDS[k], palette.MEMORY[MEMORY_KINDS[k]]) for k in course.kinds], 50.5),
        *_axes(course),
        *_areas(course),
        *_phases(course),
        *_peak(course),
        *(_collectives(course, kinds) if kinds else ()),
        _hand(course, LANES + PITCH * len(kinds) if kinds else BOTTOM),
    ]
    return svg.document(WIDTH, LANES + (PITCH * len(kinds) + 56 if kinds else 0), NAME, words(course), body)


def words(course: Course) -> str:
    """The figure for those who do not see it."""
    seconds, at_peak = course.peak
    kinds = ", ".join(f"{MEMORY_KINDS[k]} {quantities.nbytes(at_peak[k])}" for k in course.kinds)
    swings = []
    for kind in course.kinds:
        least, most = (quantities.nbytes(end(held[kind] for _, held in course.samples)) for end in (min, max))
        swings.append(f"{MEMORY_KINDS[kind]} {least} to {most}")
    span = f"rank {course.rank} from {quantities.seconds(course.begin)} to {quantities.seconds(course.end)}"
    peak = f"{quantities.nbytes(sum(at_peak))} at {quantities.seconds(seconds)}"
    when = next((name for a, b, name in reversed(course.phases) if a <= seconds <= b), "")
    peak += f", in the {when} pass" if when in ("forward", "backward") else f", in the {when}" if when else ""
    return f"{span}. The peak is {peak}: {kinds}. Over the time: {', '.join(swings)}."


def held(course: Course, seconds: float) -> str:
    """What the rank holds at a moment, and what it asks others for."""
    nbytes = next((kinds for at, kinds in reversed(course.samples) if at <= seconds), course.samples[0][1])
    kinds = ", ".join(f"{MEMORY_KINDS[k]} {quantities.nbytes(nbytes[k])}" for k in course.kinds)
    busy = ", ".join(sorted({e.kind for e in course.events if e.posted < seconds <= e.end}))
    return f"{quantities.seconds(seconds)}: {kinds}.{f' Under way: {busy}.' if busy else ''}"


def _legend(entries: Sequence[tuple[str, str]], y: float) -> Iterator[str]:
    x = 14.0
    for name, colour in entries:
        yield svg.element("rect", x=x, y=y - 10.5, width=12.0, height=12.0, rx=2, fill=colour)
        yield svg.text(x + 17, y, name)
        x += 29 + 6.8 * len(name)


def _axes(course: Course) -> Iterator[str]:
    yield svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
    for tick in quantities.ticks(0, ROOM * sum(course.peak[1]), 5):
        y = course.y(tick)
        yield svg.line(LEFT, y, RIGHT, y, stroke=palette.FAINT, stroke_opacity=0.25)
        yield svg.faint(LEFT - 8, y + 4, quantities.nbytes(tick) if tick else "0", text_anchor="end")
    for tick in quantities.ticks(course.begin, course.end, 5):
        x = course.x(tick)
        yield svg.line(x, BOTTOM, x, BOTTOM + 4, stroke=palette.FAINT)
        anchor = "end" if x > RIGHT - 24 else "middle"
        yield svg.faint(x, BOTTOM + 18, quantities.seconds(tick) if tick else "0", text_anchor=anchor)


def _areas(course: Course) -> Iterator[str]:
    """The highest first, each down to the axis: the next one covers what is not its own."""
    for kind in reversed(course.kinds):
        heights = [course.y(sum(nbytes[: kind + 1])) for _, nbytes in course.samples]
        points = list(zip(course.across, heights, strict=True))
        way = [f"M{points[0][0]:.1f},{BOTTOM:.1f}V{points[0][1]:.1f}"]
        for (x0, y0), (x, y) in zip(points, [*points[1:], (course.x(course.end), points[-1][1])], strict=True):
            way.append((f"H{x:.1f}" if f"{x:.1f}" != f"{x0:.1f}" else "") + (f"V{y:.1f}" if y != y0 else ""))
        name = MEMORY_KINDS[kind]
        yield svg.element("path", svg.title(name), d=f"{''.join(way)}V{BOTTOM:.1f}z", fill=palette.MEMORY[name])


def _phases(course: Course) -> Iterator[str]:
    """A band above the bytes: which pass, or the update."""
    for begin, end, name in course.phases:
        x, fill = course.x(begin), palette.ROLES[name]
        width = course.x(end) - x
        told = svg.title(f"{name}: {quantities.seconds(begin)} to {quantities.seconds(end)}")
        yield svg.bar(x, TOP - BAND - 1, max(0.5, width - 0.6), BAND, end - begin, told, fill=fill)
        if width > svg.length(name) + 4:
            yield svg.text(x + width / 2, TOP - 5, name, text_anchor="middle", fill=palette.text_on(fill))
        yield svg.line(x, TOP, x, BOTTOM, stroke=palette.PAPER, stroke_width=0.8, stroke_dasharray="2 3")


def _hand(course: Course, bottom: float) -> str:
    width, curves = RIGHT - LEFT, ((TOP, BOTTOM), (LANES, bottom))
    return motion.hand(
        LEFT, width / (course.end - course.begin), TOP, bottom, width, curves if bottom > LANES else curves[:1]
    )


def _peak(course: Course) -> Iterator[str]:
    seconds, nbytes = course.peak
    x, y = course.x(seconds), course.y(sum(nbytes))
    yield svg.line(LEFT, y, RIGHT, y, stroke_dasharray="5 3", stroke_width=1)
    told = f"peak: {quantities.nbytes(sum(nbytes))} at {quantities.seconds(seconds)}"
    anchor, place = ("start", LEFT + 4) if x > (LEFT + RIGHT) / 2 else ("end", RIGHT - 4)
    yield svg.text(place, y - 6, told, text_anchor=anchor, class_="ls-ink ls-halo", fill=palette.INK, **svg.HALO)
    yield svg.element("circle", cx=x, cy=y, r=3.5, fill=palette.INK, class_="ls-ink")


def _collectives(course: Course, kinds: Sequence[str]) -> Iterator[str]:
    """From when each was asked for to when it had ended."""
    for n, kind in enumerate(kinds):
        y = LANES + PITCH * n
        yield svg.lane(LEFT, y, RIGHT - LEFT, PITCH - 2)
        for e in course.events:
            if e.kind == kind:
                x = course.x(e.posted)
                told = svg.title(f"{kind}, {quantities.nbytes(e.nbytes)}, {quantities.seconds(e.end - e.posted)}")
                size = {"width": max(1.0, course.x(e.end) - x), "height": PITCH - 2}
                yield svg.element("rect", told, x=x, y=y, fill=palette.colour(kind), **size)
    below = LANES + PITCH * len(kinds)
    yield from _legend([(kind, palette.colour(kind)) for kind in kinds], below + 20)
    yield svg.faint(14, below + 42, "Each bar: from when the collective is asked for to its end.")
