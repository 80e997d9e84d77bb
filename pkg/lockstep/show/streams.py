"""streams(): a host and a GPU's streams in virtual time: what is launched, copied and computed, and who waits.

A lane for the host and one for each stream. Stepped, the clock stops wherever something ends; a slider chooses among
several runs, which have one axis, so that the shorter one is seen to be shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lockstep.bottlenecks.streams import HOST, Span, Streams
from lockstep.errors import UsageError
from lockstep.show import motion, palette, quantities, svg
from lockstep.show.player import Player, Sheet, Slider, with_clock

LEFT, RIGHT, TOP, LANE, PITCH = 78.0, 516.0, 78.0, 30.0, 46.0
NAME = "A host and its GPU"
FILL = {
    "copy": palette.COLOURS["recv"],
    "step": palette.ROLES["forward"],
    "preprocess": palette.COLOURS["send"],
    "Python": palette.COLOURS["reduce"],
    "launch": palette.COLOURS["barrier"],
}


class StreamsFigure(Player):
    """A sheet for each run. See ``streams``."""

    label = NAME
    pause = 500

    def __init__(self, runs: Mapping[str, Streams], at: str) -> None:
        self.names, self.at = list(runs), list(runs).index(at)
        lanes = list(dict.fromkeys([HOST, "compute", *(s.lane for run in runs.values() for s in run.spans)]))
        longest = max(run.time for run in runs.values())
        self.all = [_sheet(name, run, lanes, longest) for name, run in runs.items()]
        sheet = self.all[self.at]
        super().__init__(sheet.frames, sheet.captions, moments=sheet.moments)

    def caption(self) -> str:
        return f"{self.label}. {self.captions[-1]}"

    def sliders(self) -> Sequence[Slider]:
        return (Slider("way", self.names, self.at),) if len(self.names) > 1 else ()

    def sheets(self) -> Sequence[Sheet]:
        return self.all


def streams(runs: Streams | Mapping[str, Streams], at: str | None = None) -> StreamsFigure:
    """One run of virtual streams, or several by name; ``at`` is the one that is shown first. Raises UsageError for a
    run in which nothing happens."""
    named = dict(runs) if isinstance(runs, Mapping) else {"": runs}
    if not named or not all(run.time > 0 for run in named.values()):
        raise UsageError("Nothing happens in this run: there is nothing to draw.")
    return StreamsFigure(named, next(iter(named)) if at is None else at)


def words(name: str, run: Streams) -> str:
    begin, share = f"{name}: " if name else "", run.computing() / run.time
    return (
        f"{begin}{quantities.seconds(run.time)} of virtual time. Kernels run for {share:.0%} of it; "
        f"the host is blocked for {quantities.seconds(run.waited())}."
    )


def _sheet(name: str, run: Streams, lanes: Sequence[str], longest: float) -> Sheet:
    scale, told = (RIGHT - LEFT) / longest, words(name, run)
    height = TOP + PITCH * len(lanes) + 44
    bottom = TOP + PITCH * len(lanes) - 8
    body = [
        svg.text(14, 26, svg.fitting(name or NAME, svg.WIDTH - 28, 14, True), 14, font_weight=600),
        *(svg.faint(14, 44 + 16 * n, line) for n, line in enumerate(svg.wrapped(told.removeprefix(f"{name}: "), 520))),
        *(part for n, lane in enumerate(lanes) for part in _lane(run, lane, TOP + PITCH * n, scale)),
        *_axis(longest, scale, bottom),
        motion.hand(LEFT, scale, TOP - 4, bottom),
    ]
    drawing = svg.document(svg.WIDTH, height, name or NAME, told, body)
    return with_clock(drawing, told, motion.moments((s.end for s in _shown(run.spans, scale)), run.time), "s")


def _lane(run: Streams, lane: str, y: float, scale: float) -> Iterator[str]:
    yield svg.text(14, y + 19, svg.fitting(lane, LEFT - 20))
    yield svg.lane(LEFT, y, RIGHT - LEFT, LANE)
    for span in _shown([s for s in run.spans if s.lane == lane], scale):
        yield motion.lasting(span.begin, span.end, _bar(span, y, scale))


def _shown(spans: Sequence[Span], scale: float) -> list[Span]:
    """Kernels of one step that follow each other are one bar, and launches shorter than half a pixel are left out."""
    found: list[Span] = []
    for span in spans:
        before = found[-1] if found else None
        if (span.end - span.begin) * scale < 0.5 and span.lane == HOST:
            continue
        if (
            before
            and (before.lane, before.name, before.kind) == (span.lane, span.name, span.kind)
            and (span.begin - before.end) * scale < 0.5
        ):
            found[-1] = before._replace(end=span.end)
        else:
            found.append(span)
    return found


def _bar(span: Span, y: float, scale: float) -> str:
    x, width = LEFT + span.begin * scale, max(0.8, (span.end - span.begin) * scale - 0.6)
    told = svg.title(f"{span.name}, {quantities.seconds(span.begin)} to {quantities.seconds(span.end)}")
    if span.kind == "wait":
        look = {"fill": "none", "stroke": palette.FAINT, "stroke_dasharray": "3 2"}
        box = svg.element("rect", told, x=x, y=y + 4, width=width, height=LANE - 8, **look)
        return box + (svg.faint(x + width / 2, y + 19, "waits", text_anchor="middle") if width > 44 else "")
    fill = FILL.get(span.name.split()[0], palette.COLOURS["compute"])
    box = svg.bar(x, y, width, LANE, span.end - span.begin, told, fill=fill)
    fits = svg.length(span.name) + 4 < width
    label = svg.text(x + width / 2, y + 19, span.name, text_anchor="middle", fill=palette.text_on(fill))
    return box + (label if fits else "")


def _axis(longest: float, scale: float, bottom: float) -> Iterator[str]:
    for tick in quantities.ticks(0, longest, 6):
        x = LEFT + tick * scale
        if x <= RIGHT + 1:
            yield svg.line(x, bottom, x, bottom + 5, stroke=palette.FAINT)
            yield svg.faint(x, bottom + 20, quantities.seconds(tick) if tick else "0", text_anchor="middle")
    yield svg.faint(14, bottom + 38, "Virtual time. Dashed: the host is blocked.")
