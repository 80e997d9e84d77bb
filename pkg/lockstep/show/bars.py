"""bars(): named values as bars on a logarithmic scale, the longest first."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lockstep.errors import UsageError
from lockstep.show import palette, svg
from lockstep.show.picture import Picture

LEFT, RIGHT, TOP, ROW, HEIGHT = 176.0, 84.0, 46.0, 26.0, 18.0
COLOUR = palette.COLOURS["recv"]


def bars(values: Mapping[str, float], unit: str, head: str) -> Picture:
    """``values``, all above zero, in ``unit``. A bar ten times as long in value is one decade longer on the page.

    Raises UsageError for no value, or one that is not above zero."""
    if not values or min(values.values()) <= 0:
        raise UsageError("Bars on a logarithmic scale need values above zero.")
    rows = sorted(values.items(), key=lambda row: -row[1])
    low = math.log10(rows[-1][1]) - 0.4
    scale = (svg.WIDTH - LEFT - RIGHT) / (math.log10(rows[0][1]) - low)
    body = [svg.text(14, 24, head, 14, font_weight=600)]
    for number, (name, value) in enumerate(rows):
        y, width = TOP + number * ROW, scale * (math.log10(value) - low)
        body += [
            svg.text(LEFT - 8, y + 13, name, text_anchor="end"),
            svg.element("rect", x=LEFT, y=y, width=width, height=HEIGHT, rx=2, fill=COLOUR, stroke=palette.INK,
                        stroke_width=0.6),
            svg.text(LEFT + width + 6, y + 13, f"{value:.3g} {unit}"),
        ]  # fmt: skip
    bottom = TOP + len(rows) * ROW
    body.append(svg.faint(LEFT, bottom + 12, f"{unit}, logarithmic"))
    times = rows[0][1] / rows[-1][1]
    told = f"{'; '.join(f'{name} {value:.3g} {unit}' for name, value in rows)}. First to last: {times:,.3g} times."
    return Picture(svg.document(svg.WIDTH, bottom + 22, head, told, body), f"{head}. {told}")
