"""Beside the curves: what each worker does, and when. The serial part keeps all but one of them waiting."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.amdahl_model import Speedups, count, times

LEFT, WIDTH = 548.0, 290.0  # one worker's time for the whole work is as wide as this
SERIAL, PARALLEL = "#D55E00", "#56B4E9"
ROW, DRAWN = 15.0, 5  # height of a lane; more workers than this are not drawn one by one


def lanes(speedups: Speedups) -> Iterator[str]:
    """One worker; then s workers on the same work (Amdahl); then s workers for the same time (Gustafson)."""
    p, s = speedups.p, speedups.workers
    yield from _key(30)
    yield from _panel(78, "1 worker", [(1 - p, p)], s=1)
    yield from _panel(136, f"{count(s)}, the same work (Amdahl)", [(1 - p, p / s)] * min(s, DRAWN), s)
    took = f"Takes {100 / speedups.by_amdahl(s):.3g} % of the time."
    waits = f" Waiting: {100 * speedups.idle:.3g} %." if s > 1 else ""
    yield svg.faint(LEFT, 136 + 24 + ROW * (min(s, DRAWN) + (s > DRAWN)), took + waits, 11)
    yield from _panel(286, f"{count(s)}, the same time (Gustafson)", [(1 - p, p)] * min(s, DRAWN), s)
    done = f"It is {times(speedups.by_gustafson(s))} as much work."
    yield svg.faint(LEFT, 286 + 24 + ROW * (min(s, DRAWN) + (s > DRAWN)), done if s > 1 else "", 11)


def _key(y: float) -> Iterator[str]:
    for x, fill, told in ((LEFT, SERIAL, "serial, 1-p"), (LEFT + 100, PARALLEL, "parallel, p")):
        yield svg.element("rect", x=x, y=y - 10, width=12.0, height=12.0, rx=2, fill=fill)
        yield svg.text(x + 18, y, told, 12)
    yield svg.faint(LEFT + 200, y, "time →", 12)


def _panel(y: float, told: str, rows: list[tuple[float, float]], s: int) -> Iterator[str]:
    """A heading, and a lane for each worker: the first one has the serial part, then all have the parallel one."""
    yield svg.text(LEFT, y, told, 12, font_weight=600)
    for number, (serial, parallel) in enumerate(rows):
        top = y + 8 + ROW * number
        yield svg.lane(LEFT, top, WIDTH, ROW - 3)
        if number == 0:
            yield _block(LEFT, top, serial, SERIAL, "serial: one worker at work")
        yield _block(LEFT + WIDTH * serial, top, parallel, PARALLEL, "parallel: all workers at work")
    if s > DRAWN:
        yield svg.faint(LEFT, y + 8 + ROW * len(rows) + 10, f"… and {s - DRAWN:,} more like the last one", 11)


def _block(x: float, y: float, share: float, fill: str, told: str) -> str:
    """A share of the whole time. However short it is, a sliver of it can be seen."""
    if share == 0:
        return ""
    width = max(0.8, WIDTH * share)
    return svg.element("rect", svg.title(told), x=x, y=y, width=width, height=ROW - 3, fill=fill,
                       stroke=palette.PAPER, stroke_width=0.4)  # fmt: skip
