"""What moves in a drawing once somebody steps or plays it (controls.js).

A drawing with a clock is one picture of a whole run, whose parts say when they last. Standing still it shows all of it.
While it is stepped, ``setClock`` makes pale what has not begun, rims what is under way, and moves the hand. So a run is
drawn once, however many steps it has.

A drawing for each step may have parts that ``came``: they are seen on their way when the step follows the one before.
"""

from __future__ import annotations

from collections.abc import Iterable

from lockstep.show import svg
from lockstep.show.palette import LANE

Span = tuple[float, float]  # pixels from, to

MOST = 200  # steps of a figure: what anybody steps through


def lasting(start: float, end: float, *inside: str) -> str:
    """Parts of a drawing that last from ``start`` to ``end``, in the unit of the figure's moments."""
    return svg.element("g", *inside, data_from=f"{start:.9g}", data_to=f"{end:.9g}")


def hand(x: float, scale: float, top: float, bottom: float, width: float = 0, curves: Iterable[Span] = ()) -> str:
    """The clock's hand, at ``x`` pixels when it is 0; ``scale``: pixels for each unit of time.

    ``curves`` cannot be pale in parts. So ``width`` pixels to the hand's right are covered, from top to bottom of each.
    """
    veils = [
        svg.element("rect", x=x, y=y, width=width, height=end - y, fill=LANE, class_="ls-lane", opacity=0.88)
        for y, end in curves
    ]
    line = svg.line(x, top, x, bottom, stroke_width=2)
    return svg.element("g", *veils, line, class_="ls-hand", data_scale=f"{scale:.9g}", visibility="hidden")


def moments(ends: Iterable[float], total: float) -> tuple[float, ...]:
    """Where the steps stop: at 0, and wherever something ends; evenly spread if that is too often."""
    found = sorted({0.0, total, *(end for end in ends if 0 < end < total)})
    if len(found) <= MOST + 1:
        return tuple(found)
    return tuple(total * step / MOST for step in range(MOST + 1))


def came(dx: float, dy: float, *inside: str) -> str:
    """Parts that are seen coming from (dx, dy) pixels away, and not at all in a drawing that stands still."""
    return svg.element("g", *inside, class_="ls-come", style=f"--ls-dx:{dx:.1f}px;--ls-dy:{dy:.1f}px", opacity=0)
