"""Below the curves: what each worker does, and when. The serial part keeps all but one of them waiting."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.amdahl_model import Speedups, count, times

LEFT, RIGHT, WIDTH, TOP = 14.0, 280.0, 246.0, 396.0  # two columns; one worker's time for the whole work is WIDTH wide
SERIAL, PARALLEL = "#D55E00", "#56B4E9"
ROW, DRAWN = 15.0, 5  # height of a lane; more workers than this are not drawn one by one


def lanes(speedups: Speedups) -> Iterator[str]:
    """One worker; then s workers on the same work (Amdahl); then s workers for the same time (Gustafson)."""
    p, s = speedups.p, speedups.workers
    yield from _key()
    yield from _panel(LEFT, TOP, ("1 worker",), [(1 - p, p)], s=1)
    below = TOP + 56
    bottom = below + 40 + ROW * (min(s, DRAWN) + (s > DRAWN))
    same_work = (count(s), "the same work (Amdahl)")
    yield from _panel(LEFT, below, same_work, [(1 - p, p / s)] * min(s, DRAWN), s)
    yield svg.faint(LEFT, bottom, f"Takes {100 / speedups.by_amdahl(s):.3g} % of the time.")
    yield svg.faint(LEFT, bottom + 17, f"Waiting: {100 * speedups.idle:.3g} %." if s > 1 else "")
    same_time = (count(s), "the same time (Gustafson)")
    yield from _panel(RIGHT, below, same_time, [(1 - p, p)] * min(s, DRAWN), s)
    done = f"It is {times(speedups.by_gustafson(s))} as much work."
    yield svg.faint(RIGHT, bottom, done if s > 1 else "")


def _key() -> Iterator[str]:
    for y, fill, told in ((TOP, SERIAL, "serial, 1-p"), (TOP + 20, PARALLEL, "parallel, p")):
        yield svg.element("rect", x=RIGHT, y=y - 10, width=12.0, height=12.0, rx=2, fill=fill)
        yield svg.text(RIGHT + 18, y, told)
    yield svg.faint(RIGHT + 130, TOP, "time →")


def _panel(x: float, y: float, told: tuple[str, ...], rows: list[tuple[float, float]], s: int) -> Iterator[str]:
    """A heading, and a lane for each worker: the first one has the serial part, then all have the parallel one."""
    for line, words in enumerate(told):
        yield svg.text(x, y + 17 * line, words, font_weight=600 if line == 0 else 400)
    y += 17 * (len(told) - 1)
    for number, (serial, parallel) in enumerate(rows):
        top = y + 8 + ROW * number
        yield svg.lane(x, top, WIDTH, ROW - 3)
        if number == 0:
            yield _block(x, top, serial, SERIAL, "serial: one worker at work")
        yield _block(x + WIDTH * serial, top, parallel, PARALLEL, "parallel: all workers at work")
    if s > DRAWN:
        yield svg.faint(x, y + 10 + ROW * len(rows) + 10, f"… and {s - DRAWN:,} more like the last one")


def _block(x: float, y: float, share: float, fill: str, told: str) -> str:
    """A share of the whole time. However short it is, a sliver of it can be seen."""
    if share == 0:
        return ""
    width = max(0.8, WIDTH * share)
    return svg.element("rect", svg.title(told), x=x, y=y, width=width, height=ROW - 3, fill=fill,
                       stroke=palette.PAPER, stroke_width=0.4)  # fmt: skip
