"""A timeline as a static SVG: for feedback, nbconvert and GitHub.

It stays small however long the trace is: bars that fall on the same pixels are drawn once, and of many messages only
the first have arrows (the caption says so).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from lockstep.events import Event
from lockstep.show import palette, quantities, svg
from lockstep.show.lanes import PALE, ROWS, Arrow, Lanes, waits

WIDTH, EDGE, HEAD = svg.WIDTH, 14.0, 24.0  # HEAD: the caption's first line
TITLED = 400  # with more bars than this, they have no description of their own
ARROWS = 240
LINE = 12.0 - 1e-6  # pixels from label to label, at least
DOTTED = 6.0  # pixels of a row that have room for dots
LEGEND = 450.0  # pixels of the legend's columns, three or two


def draw(lanes: Lanes, title: str = "Timeline") -> str:
    """The whole figure: caption, lanes, arrows, axis and legend."""
    height, body = parts(lanes)
    return svg.document(WIDTH, height, f"{title}: {lanes.caption()}", words(lanes), body)


def parts(lanes: Lanes) -> tuple[float, list[str]]:
    """The figure's height and its elements, to be put under another one."""
    lay = Layout(lanes)
    body = [svg.text(EDGE, HEAD + 18 * i, told, 13, font_weight=600) for i, told in enumerate(lay.caption)]
    if lanes.trace.events:
        shown = sorted(lanes.arrows, key=lambda a: a.start)[:ARROWS]
        arrows = (_arrow(lay, a) for a in shown)
        body += [
            *_backdrop(lay),
            *_bars(lay),
            *_joins(lay),
            *arrows,
            *_ends(lay),
            *_labels(lay),
            *_axis(lay),
            *_legend(lay),
            *_notes(lay),
        ]
    else:
        body.append(svg.faint(EDGE, lay.top + 12, "Nothing was recorded: no rank computed or communicated."))
    return lay.height, body


class Layout:
    """Where seconds and ranks are on the page, in pixels."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes, self.left = lanes, float(lanes.left)
        self.caption = svg.wrapped(_unbroken(lanes.caption().split(" · ")), WIDTH - 2 * EDGE, 13)
        few = [f"arrows: the first {ARROWS} messages only"] if len(lanes.arrows) > ARROWS else []
        self.notes = svg.wrapped(_unbroken([*lanes.notes, *few]), WIDTH - 2 * EDGE) if lanes.notes or few else []
        self.top = HEAD + 18.0 * (len(self.caption) - 1) + 16
        self.row = max(2.0, min(16.0, 560 / (lanes.ranks * (lanes.depth + 0.4))))
        self.lane = self.row * lanes.depth
        self.pitch = self.lane + max(2.0, 0.4 * self.row)
        self.bottom = self.top + self.pitch * lanes.ranks
        self.scale = (WIDTH - self.left - EDGE) / (lanes.total or 1.0)

    @property
    def columns(self) -> int:
        """Of the legend."""
        return 3 if max(map(len, self.lanes.kinds)) < 18 else 2

    @property
    def height(self) -> float:
        return self.legend_bottom + 18 * len(self.notes) if self.lanes.trace.events else self.top + 36

    @property
    def legend_bottom(self) -> float:
        last = self.pale if self.lanes.waits else len(self.lanes.kinds) - 1
        return self.bottom + 44 + 22.0 * (1 + last // self.columns)

    @property
    def pale(self) -> int:
        """Where the legend says what is pale: it takes two columns."""
        kinds = len(self.lanes.kinds)
        return kinds if kinds % self.columns < self.columns - 1 else kinds + 1

    def x(self, t: float) -> float:
        return self.left + t * self.scale

    def y(self, rank: int, row: int = 0) -> float:
        return self.top + self.pitch * rank + self.row * row


def _backdrop(lay: Layout) -> Iterator[str]:
    room = 0.0  # where the next label may stand
    for rank in range(lay.lanes.ranks):
        yield svg.lane(lay.left, lay.y(rank), WIDTH - lay.left - EDGE, lay.lane)
        middle = lay.y(rank) + lay.lane / 2 + 4
        if lay.lanes.labels[rank] and middle >= room:
            room = middle + LINE
            yield svg.text(lay.lanes.labelled - 8, middle, lay.lanes.labels[rank], text_anchor="end")
        if rank in lay.lanes.speeds:
            yield svg.text(lay.left - 8, middle, lay.lanes.speeds[rank], text_anchor="end", font_weight=600)


def _bars(lay: Layout) -> Iterator[str]:
    events = lay.lanes.trace.events
    if len(events) > TITLED:
        yield from _merged(lay)
        return
    for e, row in zip(events, lay.lanes.rows, strict=True):
        yield _bar(lay, e, lay.y(e.rank, row) + 0.5)


def _bar(lay: Layout, e: Event, y: float) -> str:
    title, colour, height = svg.title(lay.lanes.describe(e)), palette.colour(e.kind), lay.row - 1
    look: dict[str, Any] = {"fill": colour, "stroke": palette.PAPER, "stroke_width": 0.4}
    place = (lay.x(e.start), y, max(1.5, e.duration * lay.scale), height)
    if not waits(e):
        return svg.bar(*place, e.duration, title, **look)
    parts = [_pale(colour, lay.x(e.posted), y, max(1.5, (e.start - e.posted) * lay.scale), height, e.start - e.posted)]
    if e.end > e.start:
        parts.append(svg.bar(*place, e.duration, **look))
    return svg.element("g", title, *parts)


def _pale(colour: str, x: float, y: float, width: float, height: float, waited: float | None = None) -> str:
    """``waited``: the seconds that its length stands for; None in a legend."""
    look: dict[str, Any] = {"fill": colour, "fill_opacity": palette.PALE, "stroke": colour, "stroke_width": 0.8}
    if waited is None:
        return svg.element("rect", x=x, y=y, width=width, height=height, **look)
    return svg.bar(x, y, width, height, waited, **look)


def _labels(lay: Layout) -> Iterator[str]:
    """Names in the bars that have room for them, above the arrows."""
    if lay.row < 12 or len(lay.lanes.trace) > TITLED:
        return
    for e, row in zip(lay.lanes.trace.events, lay.lanes.rows, strict=True):
        y, long = lay.y(e.rank, row) + lay.row / 2 + 4, max(e.duration, e.start - e.posted) * lay.scale
        word = next((word for word in lay.lanes.written(e) if 7.2 * len(word) + 6 < long), "")
        if word and e.duration * lay.scale == long:
            yield svg.text(lay.x(e.start) + 4, y, word, fill=palette.text_on(palette.colour(e.kind)))
        elif word and row < ROWS - 1:  # in the last row others may be above it
            yield svg.text(lay.x(e.posted) + 4, y, word, fill=palette.INK)


def _merged(lay: Layout) -> Iterator[str]:
    """One path for the pale parts of each kind, and one for the others above it."""
    pale: dict[Strip, list[Span]] = defaultdict(list)
    full: dict[Strip, list[Span]] = defaultdict(list)
    for e, row in zip(lay.lanes.trace.events, lay.lanes.rows, strict=True):
        posted, start, end = map(lay.x, (e.posted, e.start, e.end))
        if waits(e):
            pale[e.kind, e.rank, row].append((posted, max(start, posted + 1)))
        if e.end > e.start or not waits(e):
            full[e.kind, e.rank, row].append((start, max(end, start + 1)))
    yield from _paths(lay, pale, fill_opacity=palette.PALE)
    yield from _paths(lay, full)


Strip = tuple[str, int, int]  # kind, rank, row
Span = tuple[float, float]  # pixels from, to


def _paths(lay: Layout, spans: dict[Strip, list[Span]], **look: float) -> Iterator[str]:
    paths: dict[str, list[str]] = defaultdict(list)
    for (kind, rank, row), found in spans.items():
        y, h = lay.y(rank, row) + 0.25, lay.row - 0.5
        paths[kind] += [f"M{a:.1f} {y:.1f}h{b - a:.1f}v{h:.1f}h{a - b:.1f}z" for a, b in _joined(found)]
    for kind in palette.in_order(paths):
        yield svg.element("path", svg.title(kind), d="".join(paths[kind]), fill=palette.colour(kind), **look)


def _joined(spans: list[Span]) -> list[Span]:
    """Neighbours less than half a pixel apart become one bar."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 0.5:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _arrow(lay: Layout, a: Arrow) -> str:
    events, rows = lay.lanes.trace.events, lay.lanes.rows
    y1, y2 = lay.y(a.source, rows[a.send]), lay.y(a.target, rows[a.recv])
    y1, y2 = (y1 + lay.row, y2) if y1 < y2 else (y1, y2 + lay.row)  # from rim to rim
    drawn = svg.arrow(lay.x(a.start), y1, lay.x(a.end), y2, head=min(6.0, lay.row), stroke_width=0.9)
    labels = lay.lanes.labels
    told = f"{quantities.nbytes(events[a.send].nbytes)} from {labels[a.source]} to {labels[a.target]}"
    return svg.element("g", svg.title(told), drawn, opacity=0.75 if lay.row >= 8 else 0.35)


def _joins(lay: Layout) -> Iterator[str]:
    """A line where it begins, with a dot on each lane that is in it, and one where it ends."""
    for join in lay.lanes.joins:
        top, bottom = lay.y(min(join.lanes)), lay.y(max(join.lanes)) + lay.lane
        for x in map(lay.x, (join.start, join.end)):
            yield svg.line(x, top, x, bottom)
        for lane in join.lanes if lay.row >= DOTTED else ():
            place = {"cx": lay.x(join.start), "cy": lay.y(lane) + lay.lane / 2}
            yield svg.element("circle", **place, r=3, fill=palette.INK, class_="ls-ink")


def _ends(lay: Layout) -> Iterator[str]:
    for lane, seconds in lay.lanes.ends:
        x, y, told = lay.x(seconds), lay.y(lane), quantities.seconds(seconds)
        yield svg.line(x, y - 2, x, y + lay.lane + 2, stroke_width=1.5)
        place = min(x + 4, WIDTH - 6 - svg.length(told, is_bold=True))
        yield svg.text(place, y + lay.row / 2 + 4, told, font_weight=600)


def _axis(lay: Layout) -> Iterator[str]:
    scale, unit = quantities.time_unit(lay.lanes.total)
    marks = quantities.ticks(0.0, lay.lanes.total / scale, 6)
    y = lay.bottom + 2
    yield svg.line(lay.left, y, WIDTH - EDGE, y, stroke=palette.FAINT)
    for mark in marks:
        x = lay.x(mark * scale)
        yield svg.line(x, y, x, y + 4, stroke=palette.FAINT)
        told = quantities.plain(mark)
        yield svg.faint(min(x, WIDTH - 4 - svg.length(told) / 2), y + 16, told, text_anchor="middle")
    yield svg.faint(EDGE, y + 16, unit)


def _legend(lay: Layout) -> Iterator[str]:
    for i, kind in enumerate(palette.in_order(lay.lanes.kinds)):
        x, y = _entry(lay, i)
        yield svg.element("rect", x=x, y=y, width=12, height=12, rx=2, fill=palette.colour(kind))
        yield svg.text(x + 17, y + 10, kind)
    if lay.lanes.waits:
        x, y = _entry(lay, lay.pale)
        yield _pale(palette.colour(next(e.kind for e in lay.lanes.trace if waits(e))), x, y, 12, 12)
        yield svg.text(x + 17, y + 10, PALE)


def _entry(lay: Layout, i: int) -> tuple[float, float]:
    column, row = i % lay.columns, i // lay.columns
    return EDGE + LEGEND / lay.columns * column, lay.bottom + 34 + 22 * row


def _notes(lay: Layout) -> Iterator[str]:
    for i, told in enumerate(lay.notes):
        yield svg.faint(EDGE, lay.legend_bottom + 4 + 18 * i, told)


def _unbroken(facts: Iterable[str]) -> str:
    """Lines break between facts, not inside of one."""
    return " · ".join(fact.replace(" ", "\u00a0") for fact in facts)


def words(lanes: Lanes) -> str:
    busy = ", ".join(palette.in_order(lanes.kinds)) or "nothing"
    told = f"{lanes.words()} {lanes.caption()}. Shown: {busy}. "
    told += f"{PALE.capitalize()}. " if lanes.waits else ""
    return told + _unequal(lanes) + _first(lanes)


def _unequal(lanes: Lanes) -> str:
    return f"Not all is equal: {'; '.join(lanes.notes)}. " if lanes.notes else ""


def _first(lanes: Lanes) -> str:
    told = (lanes.describe(e) for e in lanes.trace.events[:5])
    return "It begins with: " + "; ".join(told) + "." if lanes.trace.events else ""
