"""curves(): measured values over one axis, a line for each name, and marks that say where to look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.errors import UsageError
from lockstep.show import palette
from lockstep.show.chart import HEIGHT, Chart, by_name, chart, line, logarithmic, points
from lockstep.show.svg import WIDTH


def curves(
    lines: Mapping[str, Mapping[float, float]],
    x: str,
    y: str,
    head: str,
    marks: Mapping[str, float] | None = None,
    log: str = "",
) -> Chart:
    """``lines``: name → {x: y}. ``x`` and ``y`` name the axes; those in ``log`` ("x", "y", "xy") are logarithmic.
    ``marks``: name → where on the x axis a dotted rule stands.

    Raises UsageError if there is no point."""
    rows = [
        {"name": name, "x": a, "y": b, "told": f"{name}: {a:,.6g} {x}, {b:.3g} {y}"}
        for name, curve in lines.items()
        for a, b in curve.items()
    ]
    if not rows:
        raise UsageError("A chart needs a point.", "Give a name and its values, as in {'here': {1: 2.0}}.")
    across, up = _axis("x", x, log), _axis("y", y, log)
    looks = by_name("name", list(lines))
    layers = [line(across, up, **looks), points(across, up, color=looks["color"])]
    if marks:
        layers.append(_rules(marks, across))
    key = [f"Dotted: {', '.join(f'{name} at {at:,.4g}' for name, at in marks.items())}."] if marks else []
    told = "; ".join(f"{name} from {_end(curve, min)} to {_end(curve, max)}" for name, curve in lines.items())
    fit = {"autosize": {"type": "fit", "contains": "padding"}, "width": WIDTH, "height": HEIGHT}
    spec = {"title": {"text": head, "subtitle": key}, "data": {"values": rows}, "layer": layers, **fit}
    return chart(spec, f"{head}. {y} over {x}: {told}. {' '.join(key)}".strip())


def _axis(field: str, title: str, log: str) -> dict[str, Any]:
    if field in log:
        return logarithmic(field, title, format="~s")
    return {"field": field, "type": "quantitative", "scale": {"zero": True}, "axis": {"title": title, "tickCount": 6}}


def _rules(marks: Mapping[str, float], across: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "data": {"values": [{"x": at} for at in marks.values()]},
        "encoding": {"x": across},
        "mark": {"type": "rule", "color": palette.FAINT, "strokeDash": [3, 3], "strokeWidth": 2, "aria": False},
    }


def _end(curve: Mapping[float, float], which: Any) -> str:
    at = which(curve)
    return f"{curve[at]:.3g} at {at:,.6g}"
