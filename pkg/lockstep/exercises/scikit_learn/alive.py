"""A picture of how many threads were alive, from one coming or going to the next, under the line of the cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.show import svg

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640.0, 210.0, 56.0, 620.0, 48.0, 180.0
RIGHT_COLOUR, TOO_MANY = "#0072B2", "#D55E00"


def drawn(history: Sequence[int], cores: int, setting: str) -> str:
    """``history``: the number of threads after each coming and going. ``setting`` is told in the title."""
    most = max([cores, *history])
    words = f"{setting}: up to {max(history, default=0)} threads alive at once, {cores} cores"
    body = [
        svg.text(20, 26, f"Threads alive at once, {setting}", 13, font_weight=600),
        svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP),
        *_bars(history, cores, most),
        *_cores(cores, most),
        svg.faint((LEFT + RIGHT) / 2, BOTTOM + 18, "one step for each thread that comes or goes", 11,
                  text_anchor="middle"),
    ]  # fmt: skip
    return svg.document(WIDTH, HEIGHT, "Threads alive at once", words, body)


def _bars(history: Sequence[int], cores: int, most: int) -> Iterator[str]:
    width = (RIGHT - LEFT) / max(1, len(history))
    for at, alive in enumerate(history):
        colour = TOO_MANY if alive > cores else RIGHT_COLOUR
        y = _y(alive, most)
        yield svg.element("rect", x=LEFT + at * width, y=y, width=max(0.5, width - 0.5), height=BOTTOM - y, fill=colour)


def _cores(cores: int, most: int) -> Iterator[str]:
    y = _y(cores, most)
    yield svg.line(LEFT, y, RIGHT, y, stroke_dasharray="6 3", stroke_width=1.5)
    yield svg.text(LEFT - 6, y + 4, str(cores), 11.5, text_anchor="end")
    yield svg.text(RIGHT - 4, y - 5, "cores", 11, text_anchor="end")
    if most > cores:
        yield svg.faint(LEFT - 6, _y(most, most) + 4, str(most), 11.5, text_anchor="end")


def _y(threads: int, most: int) -> float:
    return BOTTOM - (BOTTOM - TOP - 8) * threads / most
