"""chart(): an ordinary chart from one description in Vega-Lite: a still SVG, and in the page every point can be read.

Vega-Lite (Satyanarayan, Moritz, Wongsuphasawat and Heer, 2017) is what Altair writes, too; ``vl-convert`` draws it
here, without a browser and without network.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from lockstep.show import palette, quantities, svg
from lockstep.show.figure import Drawn, script

HEIGHT = 300.0
_WORTH = re.compile(r"(predicted|simulated|measured)\b")
NAME = 124.0  # pixels of a line's name, which may take several lines
CONFIG: dict[str, Any] = {
    "font": svg.FONT,
    "background": None,
    "padding": 12,
    "view": {"stroke": None, "fill": None},
    "axis": {
        "aria": False, "labelFontSize": svg.SMALL, "titleFontSize": svg.SMALL, "titleFontWeight": "normal",
        "labelColor": palette.FAINT, "titleColor": palette.FAINT,
        "gridColor": palette.FAINT, "gridOpacity": 0.25, "domainColor": palette.FAINT, "tickColor": palette.FAINT,
    },
    "legend": {"aria": False, "labelFontSize": svg.SMALL, "title": None, "orient": "bottom", "labelColor": palette.INK,
               "columns": 3, "symbolStrokeWidth": 2.2, "symbolSize": 400, "symbolType": "stroke", "columnPadding": 24},
    "title": {"fontSize": 14, "anchor": "start", "color": palette.INK, "subtitleFontSize": svg.SMALL,
              "subtitleColor": palette.FAINT, "subtitlePadding": 6},
    "line": {"strokeWidth": 2.2},
    "point": {"filled": True, "size": 60, "opacity": 1},
}  # fmt: skip


class Chart(Drawn):
    """``spec`` is a description in Vega-Lite; ``words`` say what the chart is and what to take away. See ``chart``."""

    module = script("chart")

    def __init__(self, spec: Mapping[str, Any], words: str) -> None:
        self.spec = {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", **spec, "config": CONFIG}
        self.words = words
        self.drawing = _drawn(self.spec, words)

    def svg(self) -> str:
        return self.drawing

    def caption(self) -> str:
        return self.words


def chart(spec: Mapping[str, Any], words: str) -> Chart:
    """Draw ``spec``, a description in Vega-Lite (an Altair chart gives it as ``to_dict()``), in the course's colours.

    ``words`` are its alternative text. A mark is read in the page if it has a ``description`` (see ``points``); its
    width is 540 pixels at most. Raises ValueError if Vega-Lite cannot draw it.
    """
    return Chart(spec, words)


def points(x: Mapping[str, Any], y: Mapping[str, Any], **channels: Any) -> dict[str, Any]:
    """A layer of points; each row of the data has its description in its field ``told``."""
    encoding = {"x": x, "y": y, "description": {"field": "told"}, **channels}
    return {"mark": {"type": "point", "aria": True}, "encoding": encoding}


def line(x: Mapping[str, Any], y: Mapping[str, Any], **channels: Any) -> dict[str, Any]:
    """A layer of a line, or of one for each colour."""
    return {"mark": {"type": "line", "aria": False}, "encoding": {"x": x, "y": y, **channels}}


def logarithmic(field: str, title: str | None, **axis: Any) -> dict[str, Any]:
    """A channel of numbers above zero on a logarithmic axis."""
    return {"field": field, "type": "quantitative", "scale": {"type": "log", "nice": False},
            "axis": {"title": title, "tickCount": 5, **axis}}  # fmt: skip


def named(
    values: Sequence[Mapping[str, Any]],
    field: str,
    x: dict[str, Any],
    y: dict[str, Any],
    high: float,
    among: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Layers of a line with points for each name in ``field``, and its name at its end instead of in a legend.
    ``values`` are the rows, in the order of ``x``; both axes have a ``domain``, and are ``high`` pixels high, about: by
    that the names are pushed apart. A name has the colour and the dashes of its place ``among`` all names."""
    names = list(dict.fromkeys(str(row[field]) for row in values))
    looks = by_name(field, list(among) or names)
    for channel in looks.values():
        channel["legend"] = None
    ends = {str(row[field]): (row[x["field"]], row[y["field"]]) for row in values}
    lines = {name: svg.wrapped(name, NAME, letter=0.64) for name in names}
    places = _apart({name: end for name, (_, end) in ends.items()}, lines, y.get("scale", {}), high)
    told = [
        {field: name, "end": end, "at": at, "place": place, "first": first, "label": "\n".join(lines[name])}
        for name, (end, at) in ends.items()
        for place, first in [places[name]]
    ]
    up, across = y | {"field": "place"}, x | {"field": "end"}
    edge = {"value": "width"}
    return [
        line(x, y, **looks),
        points(x, y, color=looks["color"]),
        _mark("rule", told, {"x": across, "x2": edge, "y": y | {"field": "at"}, **looks}, strokeWidth=0.8),
        _mark("rule", told, {"x": edge, "x2": edge, "y": up, **looks}, xOffset=5, x2Offset=27, strokeWidth=2.2),
        _mark("text", told, {"x": edge, "y": y | {"field": "first"}, "text": {"field": "label"}}, dx=32, align="left",
              lineBreak="\n", baseline="middle", fontSize=svg.SMALL, color=palette.INK),
    ]  # fmt: skip


def level(value: float, y: dict[str, Any]) -> dict[str, Any]:
    """A layer of a dotted line across the axes, with which the others are compared; the title says what it is."""
    edges = {"x": {"value": 0}, "x2": {"value": "width"}}
    look = {"color": palette.FAINT, "strokeDash": [3, 3], "strokeWidth": 2}
    return _mark("rule", [{"level": value}], edges | {"y": y | {"field": "level"}}, **look)


def _mark(kind: str, rows: Sequence[Mapping[str, Any]], encoding: Mapping[str, Any], **look: Any) -> dict[str, Any]:
    return {"data": {"values": list(rows)}, "mark": {"type": kind, "aria": False, **look}, "encoding": dict(encoding)}


def _apart(
    ends: Mapping[str, float], lines: Mapping[str, Sequence[str]], scale: Mapping[str, Any], high: float
) -> dict[str, tuple[float, float]]:
    """Where on the axis each name stands, in its middle and in its first line: at the end of its line, or pushed away
    from its neighbours."""
    to, back = (math.log, math.exp) if scale.get("type") == "log" else (float, float)
    low, top = map(to, scale["domain"])
    unit = (top - low) / high  # of the axis, a pixel
    order = sorted(ends, key=lambda name: ends[name])
    places = [to(ends[name]) for name in order]
    rooms = [unit * 8 * (len(lines[a]) + len(lines[b])) for a, b in pairwise(order)]
    for i, room in enumerate(rooms):
        places[i + 1] = max(places[i + 1], places[i] + room)
    places[-1] = min(places[-1], top)
    for i, room in reversed(list(enumerate(rooms))):  # those that were pushed out at the top push down again
        places[i] = min(places[i], places[i + 1] - room)
    return {
        name: (back(at), back(at + unit * 7.5 * (len(lines[name]) - 1))) for name, at in zip(order, places, strict=True)
    }


def domain(values: Iterable[float], is_log: bool = False) -> dict[str, Any]:
    """The scale of an axis: from zero to a round number above the largest value, or all powers of ten around them."""
    found = list(values)
    low, high = min(found), max(found)
    if is_log:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        wide = high > 30 * low
        ends = (10.0**first, 10.0 ** max(last, first + 1)) if wide else (low / 1.2, high * 1.2)
        return {"type": "log", "nice": False, "domain": list(ends)}
    low, high = min(0.0, low), max(0.0, high)
    step = quantities.ticks(low, high, 5) if high > low else [0.0, 1.0]
    unit = step[1] - step[0] if len(step) > 1 else high or 1.0
    top = unit * math.ceil(round(high / unit, 9)) if high > low else 1.0
    return {"domain": [unit * math.floor(round(low / unit, 9)), top], "nice": False, "zero": low == 0}


def by_name(field: str, names: Sequence[str]) -> dict[str, Any]:
    """Colour and dashes of named lines: an all-reduce algorithm has those that it has in every figure, and a line that
    says so is predicted, simulated or measured, if no other is."""
    worth = {name: palette.ROLES[name.split(",")[0].split()[0]] for name in names if _WORTH.match(name)}
    known = {name: (colour, "") for name, colour in worth.items() if list(worth.values()).count(colour) == 1}
    known |= {name: look for name, look in palette.LINES.items() if name in names}
    taken = {colour for colour, _ in known.values()}
    others = [look for look in palette.LINES.values() if look[0] not in taken]
    spare = iter(sorted(others, key=lambda look: look == palette.LINES["naive"]))  # the second one without dashes: last
    looks = [known.get(name) or next(spare) for name in names]
    dashes = [[int(n) for n in dashes.split()] or [1, 0] for _, dashes in looks]
    columns = 3 if max(map(len, names)) < 20 else 2
    channel = {"field": field, "type": "nominal", "legend": {"columns": columns, "labelLimit": 0}}
    return {
        "color": channel | {"scale": {"domain": list(names), "range": [colour for colour, _ in looks]}},
        "strokeDash": channel | {"scale": {"domain": list(names), "range": dashes}},
    }


def _drawn(spec: Mapping[str, Any], words: str) -> str:
    """Vega's own SVG on our card, with a title and a description; text follows the page's theme."""
    import vl_convert  # only what draws a chart loads its 84 MB

    inner = vl_convert.vegalite_to_svg(dict(spec))
    width, height = (float(n) for n in re.findall(r'(?:width|height)="([\d.]+)"', inner[:400])[:2])
    for colour, name in ((palette.INK, "ls-ink"), (palette.FAINT, "ls-faint")):
        inner = re.sub(rf'(<text [^>]*fill="{colour}")', rf'\1 class="{name}"', inner)
    inner = re.sub(rf'(<(?:path|line) [^>]*stroke="{palette.INK}")', r'\1 class="ls-line"', inner)
    title, _, told = words.partition(". ")
    return svg.document(max(svg.WIDTH, width), height, title, told, [inner])
