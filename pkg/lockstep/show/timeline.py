"""timeline(): what every rank did, and when; for a failed run also who waited for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from lockstep.errors import RunError, UsageError
from lockstep.events import Event, Outcome, Trace
from lockstep.show import palette, quantities, svg, timeline_svg
from lockstep.show.figure import Drawn, script
from lockstep.show.lanes import PALE, Lanes
from lockstep.show.phases import NAMES, phased
from lockstep.show.shared_lanes import SharedLanes, folded
from lockstep.show.waiting import Waiting

MOST = 50_000  # events that a page is given, some 20 bytes each


class Timeline(Drawn):
    """Lanes, on a canvas in the page, with zoom, pan, and what the pointer is on. See ``timeline``."""

    module = script("controls", "canvas", "timeline")
    title = "Timeline"
    lanes: Lanes
    views: Mapping[str, Lanes] = MappingProxyType({})  # other ways to see it, by the name of their button

    def __init__(self, trace: Trace, total: float | None = None, waits: Waiting | None = None) -> None:
        self.lanes = folded(trace, total) if waits is None else Lanes.of(trace, total)
        self.waits = waits
        if isinstance(self.lanes, SharedLanes) and self.lanes.whole is not None:
            self.views = {"Each rank by itself": self.lanes.whole}

    def state(self) -> dict[str, Any]:
        waiting = self.waits.svg() if self.waits else ""
        data = columns(self.lanes) if self.has_lanes else None
        views = [[name, columns(lanes)] for name, lanes in self.views.items()] if self.has_lanes else []
        return {"data": data, "views": views, "title": self.title, "label": self._label(), "waiting": waiting}

    @property
    def has_lanes(self) -> bool:
        """A run that got stuck before its clock moved has none: all of it would be on one line."""
        return self.waits is None or self.lanes.total > 0

    def _label(self) -> str:
        left_out = len(self.lanes.trace) - MOST
        note = f" · {quantities.count(left_out, 'later event')} left out" if left_out > 0 else ""
        return self.lanes.caption() + note

    def caption(self) -> str:
        waits = f". {self.waits.sentence()}" if self.waits else ""
        return f"{self.title}: {self._label()}{waits}"

    def svg(self) -> str:
        """The static figure. For an error with states the wait-for graph is above the timeline."""
        if self.waits is None:
            return timeline_svg.draw(self.lanes, self.title)
        if not self.has_lanes:
            return self.waits.svg()
        upper, waits = self.waits.parts()
        lower, lanes = timeline_svg.parts(self.lanes)
        body = [*waits, svg.element("g", *lanes, transform=f"translate(0 {upper:g})")]
        told = f"{self.waits.words()}. {timeline_svg.words(self.lanes)}"
        return svg.document(timeline_svg.WIDTH, upper + lower, self.caption(), told, body)


def timeline(of: Trace | Outcome | RunError) -> Timeline:
    """Draw a Trace, the Result of a run, or the error that ended it.

    Wheel (after a click), ``+`` and ``-`` zoom; dragging, ``←`` and ``→`` move; ``0`` shows all; ``n`` and ``p`` go
    from event to event. ``.svg()`` gives a static figure. Raises UsageError for anything else.
    """
    if isinstance(of, Trace):
        return Timeline(of)
    if isinstance(of, RunError):
        trace = of.trace if of.trace is not None else Trace(ranks=len(of.states))
        return Timeline(trace, waits=Waiting.of(of.states) if of.states else None)
    if isinstance(of, Outcome):
        figure = Timeline(phased(of), of.time)
        if figure.lanes.kinds & set(NAMES):
            operations = replace(folded(of.trace, of.time), names_operations=True)
            figure.views = {**figure.views, "Operations": operations}
        return figure
    if isinstance(getattr(of, "trace", None), Trace):  # a part of a run, say
        return Timeline(of.trace, getattr(of, "time", None))
    raise UsageError(f"timeline() draws a Trace, the Result of run() or the error of a run, not a {type(of).__name__}.")


def columns(lanes: Lanes) -> dict[str, Any]:
    """The trace by columns, as timeline.js wants it: small, and quick to search."""
    events = lanes.trace.events[:MOST]
    kinds = palette.in_order(e.kind for e in events)
    number = {kind: i for i, kind in enumerate(kinds)}
    names, name = _interned(e.name for e in events)
    wheres, where = _interned(e.where for e in events)
    arrows = [a for a in lanes.arrows if max(a.send, a.recv) < len(events)]
    return {
        "ranks": lanes.ranks,
        "depth": lanes.depth,
        "total": lanes.total,
        "left": lanes.left,
        "labels": lanes.labels,
        "whose": lanes.whose,
        "labelled": lanes.labelled,
        "joins": [[*join] for join in lanes.joins],
        "ends": [[*end, quantities.seconds(end.seconds)] for end in lanes.ends],
        "speeds": [lanes.speeds.get(rank, "") for rank in range(lanes.ranks)] if lanes.speeds else [],
        "notes": " · ".join(lanes.notes),
        "pale": PALE if lanes.waits else "",
        "kinds": kinds,
        "named": [kind in lanes.named for kind in kinds],
        "passes": [kind in NAMES for kind in kinds],
        "colours": [palette.colour(k) for k in kinds],
        "inks": [palette.text_on(palette.colour(k)) for k in kinds],
        "names": names,
        "wheres": wheres,
        "name": name,
        "where": where,
        "kind": [number[e.kind] for e in events],
        "row": list(lanes.rows[: len(events)]),
        "peer": [-1 if e.peer is None else e.peer for e in events],
        "message": _messages(events),
        "start": [e.posted for e in events],  # bars begin where the rank asked for it,
        "began": [e.start for e in events],  # and are pale until then
        **{field: [getattr(e, field) for e in events] for field in ("end", "rank", "nbytes", "wait")},
        "arrows": {field: [getattr(a, field) for a in arrows] for field in ("send", "recv", "start", "end")},
    }


def _messages(events: tuple[Event, ...]) -> list[int]:
    """-1 where an event belongs to no message; a collective and a send never share a number."""
    numbers: dict[tuple[bool, int], int] = {}
    return [
        -1 if e.message is None else numbers.setdefault((e.kind in ("send", "recv"), e.message), len(numbers))
        for e in events
    ]


def _interned(words: Any) -> tuple[list[str], list[int]]:
    """Each different word once, and for each event its place in that list."""
    places: dict[str, int] = {}
    indices = [places.setdefault(word, len(places)) for word in words]
    return list(places), indices
