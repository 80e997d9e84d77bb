"""How many threads were alive at once, as a picture: a bar after each start or end, a line at the number of cores."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.show import svg

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = svg.WIDTH, 210.0, 64.0, 526.0, 48.0, 180.0
FITTING, TOO_MANY = "#0072B2", "#D55E00"


def drawn(history: Sequence[int], cores: int, setting: str) -> str:
    """``history``: the number of threads after each start or end. ``setting`` goes into the title."""
    most, step = max([cores, *history]), (RIGHT - LEFT) / max(1, len(history))
    words = f"{setting}: up to {max(history, default=0)} threads alive at once, {cores} cores"
    tops = [BOTTOM - (BOTTOM - TOP - 8) * alive / most for alive in (*history, cores)]
    bars = [
        svg.element("rect", x=LEFT + at * step, y=top, width=max(0.5, step - 0.5), height=BOTTOM - top,
                    fill=TOO_MANY if alive > cores else FITTING)
        for at, (alive, top) in enumerate(zip(history, tops[:-1], strict=True))
    ]  # fmt: skip
    body = [
        svg.text(14, 26, f"Threads alive at once, {setting}", 13, font_weight=600),
        svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP),
        *bars,
        svg.line(LEFT, tops[-1], RIGHT, tops[-1], stroke_dasharray="6 3", stroke_width=1.5),
        svg.text(LEFT - 6, tops[-1] + 4, f"{cores} cores", text_anchor="end"),
        svg.faint((LEFT + RIGHT) / 2, BOTTOM + 18, "a step for each fit that comes or goes", text_anchor="middle"),
    ]  # fmt: skip
    return svg.document(WIDTH, HEIGHT, "Threads alive at once", words, body)
