"""bars(): named values side by side, the largest first: bars from zero, or dots where one is far more than another."""

from __future__ import annotations

from collections.abc import Mapping

from lockstep.errors import UsageError
from lockstep.show import palette, svg
from lockstep.show.figure import Picture
from lockstep.show.side_by_side import Row, SideBySide


def bars(values: Mapping[str, float], unit: str, head: str) -> Picture:
    """Draw ``values``, all above zero, in ``unit``. Where the largest is more than ten times the smallest, they are
    dots on a logarithmic axis.

    Raises UsageError for no value, or one that is not above zero."""
    if not values or min(values.values()) <= 0:
        raise UsageError("These bars need values above zero.")
    ordered = sorted(values.items(), key=lambda row: -row[1])
    rows = [Row(name, value, f"{value:.3g} {unit}", palette.ROLES["measured"]) for name, value in ordered]
    heading = svg.heading(14, 24, head)
    marks = SideBySide(rows, unit, 28 + 18.0 * len(heading), pitch=26, thick=18)
    times = ordered[0][1] / ordered[-1][1]
    told = f"{'; '.join(f'{row.name} {row.told}' for row in rows)}. First to last: {times:,.3g} times."
    body = [*heading, *marks.drawn()]
    return Picture(svg.document(svg.WIDTH, marks.bottom + 16, head, told, body), f"{head}. {told}")
