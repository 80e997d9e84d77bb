"""curves(): values over one axis, a line for each name, and marks that say where to look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.errors import UsageError
from lockstep.show import palette, quantities, svg
from lockstep.show.chart import HEIGHT, Chart, chart, domain, named
from lockstep.show.svg import WIDTH

AXES = 176.0  # pixels that they are high, or a few more


def curves(
    lines: Mapping[str, Mapping[float, float]],
    x: str,
    y: str,
    head: str,
    marks: Mapping[str, float] | None = None,
    log: str = "",
    spoken: Mapping[str, float] | None = None,
) -> Chart:
    """``lines``: name → {x: y}. ``x`` and ``y`` name the axes; those in ``log`` ("x", "y", "xy") are logarithmic.
    ``marks``: name → where on the x axis there is a dotted rule. ``spoken``: name of a line → the x of its point that
    the text speaks of, which gets a ring and its value.

    Raises UsageError if there is no point, or none where one is spoken of."""
    rows: list[dict[str, Any]] = [
        {"name": name, "x": a, "y": b, "told": f"{name}: {a:,.6g} {x}, {b:.3g} {y}"}
        for name, curve in lines.items()
        for a, b in sorted(curve.items())
    ]
    if not rows:
        raise UsageError("A chart needs a point.", "Give a name and its values, as in {'here': {1: 2.0}}.")
    missing = [name for name, at in (spoken or {}).items() if at not in lines.get(name, {})]
    if missing:
        raise UsageError(f"There is no such point of {missing[0]!r}.", "Name a line and one of its x.")
    every = [*(row["x"] for row in rows), *(marks or {}).values()]
    across, up = _axis("x", x, every, log), _axis("y", y, [row["y"] for row in rows], log)
    layers = named(rows, "name", across, up, AXES)
    if marks:
        layers.append(_rules(marks, across))
    if spoken:
        first = {name: curve[min(curve)] for name, curve in lines.items()}
        marked = [
            row | {"rises": row["y"] >= first[row["name"]]} for row in rows if spoken.get(row["name"]) == row["x"]
        ]
        layers += _spoken(marked, across, up)
    key = [f"Dotted: {', '.join(f'{name} at {_plain(at)}' for name, at in marks.items())}."] if marks else []
    told = "; ".join(f"{name} from {_end(curve, min)} to {_end(curve, max)}" for name, curve in lines.items())
    told += "".join(f"; {name} {lines[name][at]:.3g} at {at:,.6g}" for name, at in (spoken or {}).items())
    title = {
        "text": svg.wrapped(head, WIDTH - 80, 14, 0.72),
        "subtitle": [part for sentence in key for part in svg.wrapped(sentence, WIDTH - 40, letter=0.64)],
    }
    fit = {"autosize": {"type": "fit", "contains": "padding"}, "width": WIDTH - 2, "height": HEIGHT}
    spec = {"title": title, "layer": layers, "data": {"values": rows}, **fit}
    return chart(spec, f"{head}. {y} over {x}: {told}. {' '.join(key)}".strip())


def _axis(field: str, title: str, values: list[float], log: str) -> dict[str, Any]:
    scale = domain(values, field in log)
    axis: dict[str, Any] = {"title": svg.fitting(title, 330 if field == "x" else 190), "tickCount": 6}
    if field in log:
        low, high = scale["domain"]
        is_plain = low >= 1e-3 and high < 1e6
        axis |= {"values": quantities.log_ticks(low, high, 7), "format": ",~g" if is_plain else "~s"}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def _rules(marks: Mapping[str, float], across: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "data": {"values": [{"x": at} for at in marks.values()]},
        "encoding": {"x": across},
        "mark": {"type": "rule", "color": palette.FAINT, "strokeDash": [3, 3], "strokeWidth": 2, "aria": False},
    }


def _spoken(rows: list[dict[str, Any]], across: Mapping[str, Any], up: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A ring round each point, and its value: above it on a line that rises, below it on one that falls."""
    ring = {"type": "point", "filled": False, "size": 220, "strokeWidth": 2, "color": palette.INK, "aria": False}
    label = {"type": "text", "fontWeight": 600, "fontSize": svg.SMALL, "color": palette.INK, "aria": False}
    place = {"x": across, "y": up}
    layers: list[dict[str, Any]] = [{"data": {"values": rows}, "mark": ring, "encoding": place}]
    for row in rows:
        value = {"values": [row | {"value": f"{row['y']:.3g}"}]}
        mark = label | {"dy": -17 if row["rises"] else 20}
        layers.append({"data": value, "mark": mark, "encoding": place | {"text": {"field": "value"}}})
    return layers


def _plain(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _end(curve: Mapping[float, float], which: Any) -> str:
    at = which(curve)
    return f"{curve[at]:.3g} at {at:,.6g}"
