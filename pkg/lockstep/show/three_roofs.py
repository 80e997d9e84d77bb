"""three_roofs(): steps under three roofs: the seconds that FLOPs, memory bytes and network bytes take.

Three dots for each step on a logarithmic axis: the rightmost bounds it. A slider changes the steps, as a batch
size does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log

from lockstep.cost.roofs import ROOFS, Roofs, Work
from lockstep.errors import UsageError
from lockstep.show import palette, quantities, svg
from lockstep.show.player import Player, Sheet, Slider

LEFT, RIGHT, TOP = 96.0, 410.0, 88.0
PITCH, GROUP = 16.0, 84.0
FILL = dict(zip(ROOFS, (palette.COLOURS["all_reduce"], palette.COLOURS["recv"], palette.COLOURS["send"]), strict=True))
NAME = "Three roofs"


class ThreeRoofs(Player):
    """A sheet for each stop of the slider. See ``three_roofs``."""

    label = NAME

    def __init__(self, stops: Mapping[str, Sequence[Work]], roofs: Roofs, slider: str, at: str) -> None:
        self.names, self.slider, self.at = list(stops), slider, list(stops).index(at)
        ends = _ends([work for works in stops.values() for work in works], roofs)
        self.all = [
            Sheet([draw(works, roofs, f"{slider}: {stop}" if slider else "", ends)], [words(works, roofs)])
            for stop, works in stops.items()
        ]
        super().__init__(self.all[self.at].frames, self.all[self.at].captions)

    def sliders(self) -> Sequence[Slider]:
        return (Slider(self.slider, self.names, self.at),) if len(self.names) > 1 else ()

    def sheets(self) -> Sequence[Sheet]:
        return self.all


def three_roofs(
    steps: Sequence[Work] | Mapping[str, Sequence[Work]], roofs: Roofs, slider: str = "", at: str | None = None
) -> ThreeRoofs:
    """``steps`` under ``roofs``: all of them, or for each stop of a slider of that name those that are there; ``at`` is
    the stop that it is set to at first. Raises UsageError for no step, or one that does nothing."""
    stops = dict(steps) if isinstance(steps, Mapping) else {"": steps}
    if not stops or not all(stops.values()):
        raise UsageError("There is no step to place.", "Give a Work with its FLOPs and bytes.")
    for work in (work for works in stops.values() for work in works):
        if not work.at_least(roofs) > 0:
            raise UsageError(f"{work.name!r} does nothing: it has no place under a roof.")
    return ThreeRoofs(stops, roofs, slider, next(iter(stops)) if at is None else at)


def words(works: Sequence[Work], roofs: Roofs) -> str:
    """Each step in a sentence."""
    told = []
    for work in works:
        seconds = ", ".join(f"{roof} {quantities.seconds(s)}" for roof, s in work.seconds(roofs).items())
        told.append(f"{work.name}: {seconds}; bound by {work.bound(roofs)}.")
    return " ".join(told)


def draw(works: Sequence[Work], roofs: Roofs, setting: str, ends: tuple[float, float]) -> str:
    height = TOP + GROUP * len(works) + 34
    body = [
        svg.text(14, 26, "Seconds under each roof alone: the longest bounds a step", 14, font_weight=600),
        svg.faint(14, 46, svg.fitting(f"{setting}. {_told(roofs)}" if setting else _told(roofs), svg.WIDTH - 28)),
        *_axis(ends, height - 40),
        *(part for n, work in enumerate(works) for part in _group(work, roofs, TOP + GROUP * n, ends)),
    ]
    return svg.document(svg.WIDTH, height, NAME, words(works, roofs), body)


def _told(roofs: Roofs) -> str:
    return (
        f"{roofs.compute / 1e12:.3g} TFLOP/s, memory {quantities.nbytes(roofs.memory)}/s, "
        f"network {quantities.nbytes(roofs.network)}/s"
    )


def _ends(works: Sequence[Work], roofs: Roofs) -> tuple[float, float]:
    """Powers of ten around all bars; what takes less than a millionth of the longest begins at the left edge."""
    every = [s for work in works for s in work.seconds(roofs).values() if s > 0]
    most = max(every, default=1.0)
    low = max(min(every, default=1.0), most * 1e-6)
    found = quantities.decades(low / 10, most * 10)
    inside = [t for t in found if t <= low / 1.5], [t for t in found if t >= most]
    return (inside[0] or found)[-1 if inside[0] else 0], (inside[1] or found)[0 if inside[1] else -1]


def _x(seconds: float, ends: tuple[float, float]) -> float:
    low, high = ends
    share = log(max(seconds, low) / low) / log(high / low)
    return LEFT + (RIGHT - LEFT) * share


def _axis(ends: tuple[float, float], bottom: float) -> Iterator[str]:
    yield svg.lane(LEFT, TOP - 12, RIGHT - LEFT, bottom - TOP + 12)
    for tick in quantities.log_ticks(*ends, 6):
        if ends[0] <= tick <= ends[1]:
            x = _x(tick, ends)
            yield svg.line(x, TOP - 12, x, bottom, stroke=palette.FAINT, stroke_opacity=0.3)
            yield svg.faint(x, bottom + 16, quantities.seconds(tick), text_anchor="middle")
    yield svg.faint(LEFT, bottom + 32, "logarithmic axis")


def _group(work: Work, roofs: Roofs, top: float, ends: tuple[float, float]) -> Iterator[str]:
    bound = work.bound(roofs)
    yield svg.text(14, top + 4, svg.fitting(work.name, svg.WIDTH - 28, is_bold=True), font_weight=600)
    for n, (roof, seconds) in enumerate(work.seconds(roofs).items()):
        y = top + 12 + PITCH * n
        is_bound = roof == bound
        told = f"{quantities.seconds(seconds)}{', the bound' if is_bound else ''}" if seconds else "none"
        yield svg.faint(LEFT - 8, y + 10, roof, text_anchor="end")
        name = svg.title(f"{work.name}, {roof}: {told}")
        x = _x(seconds, ends) if seconds else LEFT - 8
        if seconds:
            rim = palette.INK if is_bound else palette.PAPER
            yield svg.line(LEFT, y + 6, x, y + 6, stroke=palette.FAINT, stroke_dasharray="1 4")
            look = {"fill": FILL[roof], "stroke": rim, "stroke_width": 1.6, "class_": "ls-line" if is_bound else None}
            yield svg.element("circle", name, cx=x, cy=y + 6, r=6.0, **look)
        fits = svg.fitting(told, svg.WIDTH - x - 16, is_bold=is_bound)
        yield svg.text(x + 12, y + 10, fits, font_weight=600 if is_bound else None)
