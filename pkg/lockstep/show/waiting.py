"""The wait-for graph of a failed run: its ranks on a circle, an arrow from each to the ranks that it waits for.

In a deadlock the arrows close a circle; its ranks are placed in its order, and its arrows are drawn in colour.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lockstep.deadlock_report import wait_cycle
from lockstep.errors import RankState
from lockstep.show import palette, svg

SHOWN = 12  # ranks on the circle, and rows next to it
WIDTH, RADIUS, CENTRE, TOP = svg.WIDTH, 64.0, 94.0, 58.0
BESIDE = 2 * CENTRE + 10  # where the rows begin
LINE = 17.0  # from line to line
CYCLE = palette.ROLES["wrong"]
STATES = {
    "waiting": palette.ROLES["marked"], "computing": palette.ROLES["work"], "finished": palette.ROLES["right"],
    "raised": palette.ROLES["wrong"], "died": palette.INK,
}  # fmt: skip


@dataclass(frozen=True)
class Waiting:
    """The states, those of the wait-for cycle first and in its order."""

    states: tuple[RankState, ...]
    cycle: tuple[int, ...]  # the cycle: each rank waits for the next, the last for the first; empty if there is none

    @classmethod
    def of(cls, states: Sequence[RankState]) -> Waiting:
        cycle = wait_cycle(states)
        place = {rank: i for i, rank in enumerate(cycle)}
        urgent = {"raised": 0, "died": 0, "waiting": 1, "computing": 2, "finished": 3}
        ordered = sorted(states, key=lambda s: (place.get(s.rank, len(place)), urgent[s.state], s.rank))
        return cls(tuple(ordered), cycle)

    def sentence(self) -> str:
        if self.cycle:
            around = " → ".join(str(r) for r in (*self._shortened(), self.cycle[0]))
            return f"The circle of waits: rank {around}"
        waiting = sum(s.state == "waiting" for s in self.states)
        return f"{waiting} of {len(self.states)} ranks wait for communication"

    def _shortened(self) -> list[str]:
        names = [str(r) for r in self.cycle]
        return names if len(names) <= SHOWN else [*names[: SHOWN - 4], "…", names[-1]]

    def svg(self) -> str:
        """The picture on a card of its own."""
        height, body = self.parts()
        return svg.document(WIDTH, height, f"Who waits for whom. {self.sentence()}", self.words(), body)

    def words(self) -> str:
        return "; ".join(str(s) for s in self.states[:SHOWN])

    def parts(self) -> tuple[float, list[str]]:
        """The figure's height and its elements."""
        shown = self.states[:SHOWN]
        left_out = len(self.states) - len(shown)
        head = svg.wrapped(self.sentence(), WIDTH - 28, 13)
        rows = _rows(shown, TOP + 18 * (len(head) - 1))
        bottom = rows.bottom
        if left_out:
            rows.drawn.append(svg.faint(BESIDE, bottom, f"… and {left_out} more ranks"))
            bottom += LINE
        height = max(2 * CENTRE + 30, bottom)
        title = [svg.text(14, 26 + 18 * i, told, 13, font_weight=600) for i, told in enumerate(head)]
        return height, [*title, *self._circle(shown, height), *rows.drawn]

    def _circle(self, shown: Sequence[RankState], height: float) -> Iterator[str]:
        middle = min(height / 2 + 14, 150.0)
        places = {s.rank: _on_circle(i, len(shown), middle) for i, s in enumerate(shown)}
        steps = set(zip(self.cycle, self.cycle[1:] + self.cycle[:1], strict=True))
        radius = 17.0 if len(shown) <= 8 else 12.0
        for s in shown:
            for target in s.waits_for:
                if target in places:
                    yield _wait(places[s.rank], places[target], radius, s, (s.rank, target) in steps)
        for s in shown:
            x, y = places[s.rank]
            fill = STATES[s.state]
            disc = svg.element("circle", cx=x, cy=y, r=radius, fill=fill, stroke=palette.INK, stroke_width=1)
            number = svg.text(
                x, y + 4.5, str(s.rank), 13, text_anchor="middle", fill=palette.text_on(fill), font_weight=600
            )
            yield svg.element("g", svg.title(str(s)), disc, number)


def _on_circle(i: int, n: int, middle: float) -> tuple[float, float]:
    """Clockwise from the top; a single rank in the middle."""
    angle = 2 * math.pi * i / n - math.pi / 2
    radius = RADIUS if n > 1 else 0.0
    return CENTRE + radius * math.cos(angle), middle + radius * math.sin(angle)


def _wait(a: tuple[float, float], b: tuple[float, float], radius: float, s: RankState, in_cycle: bool) -> str:
    """From rim to rim, a little off the direct line, so that two who wait for each other show two arrows."""
    length = math.hypot(b[0] - a[0], b[1] - a[1])
    if not length:
        return ""
    ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    rim = math.sqrt(max(radius**2 - 25, 1.0)) + 2
    ends = a[0] + ux * rim - 5 * uy, a[1] + uy * rim + 5 * ux, b[0] - ux * rim - 5 * uy, b[1] - uy * rim + 5 * ux
    fill, width = (CYCLE, 2.0) if in_cycle else (palette.INK, 1.1)
    drawn = svg.arrow(*ends, head=min(9.0, radius / 2), fill=fill, stroke_width=width)
    return svg.element("g", svg.title(str(s)), drawn)


@dataclass(frozen=True)
class Rows:
    """What is drawn, and where the next row would begin."""

    drawn: list[str]
    bottom: float


def _rows(shown: Sequence[RankState], top: float) -> Rows:
    """One row a rank: what it waits in, for whom, and the learner's own line, whole."""
    drawn, y, room = [], top, WIDTH - BESIDE - 32
    for s in shown:
        drawn.append(svg.element("circle", cx=BESIDE + 5, cy=y - 4, r=5, fill=STATES[s.state]))
        line = f"{s.where}: {s.source}" if s.source else s.where
        for told in svg.wrapped(_what(s), room, letter=0.65):
            drawn.append(svg.text(BESIDE + 18, y, told, font_weight=600))
            y += LINE
        for told in svg.wrapped(line, room, letter=0.61) if line else []:
            drawn.append(svg.faint(BESIDE + 18, y, told, font_family=svg.MONO))
            y += LINE
        y += 8
    return Rows(drawn, y)


def _what(s: RankState) -> str:
    """``rank 0 waits in recv(src=3), for rank 3``"""
    told = {
        "waiting": f"waits in {s.operation}",
        "computing": f"{s.did} {s.operation}".strip() or "is computing",
        "finished": "has finished",
        "raised": f"raised {s.detail}",
        "died": s.detail or "died",
    }[s.state]
    named = ", ".join(str(r) for r in s.waits_for[:6]) + (" …" if len(s.waits_for) > 6 else "")
    awaited = f", for rank{'s' if len(s.waits_for) > 1 else ''} {named}" if s.waits_for else ""
    return f"rank {s.rank} {told}{awaited}"
