"""chart(): an ordinary chart from one description in Vega-Lite: a still SVG, and in the page every point can be read.

Vega-Lite (Satyanarayan, Moritz, Wongsuphasawat and Heer, 2017) is what Altair writes, too; ``vl-convert`` draws it
here, without a browser and without network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.show import palette, svg
from lockstep.show.figure import Drawn, script

HEIGHT = 300.0
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
    """A layer of points; each row of the data says itself in its field ``told``."""
    encoding = {"x": x, "y": y, "description": {"field": "told"}, **channels}
    return {"mark": {"type": "point", "aria": True}, "encoding": encoding}


def line(x: Mapping[str, Any], y: Mapping[str, Any], **channels: Any) -> dict[str, Any]:
    """A layer of a line, or of one for each colour."""
    return {"mark": {"type": "line", "aria": False}, "encoding": {"x": x, "y": y, **channels}}


def logarithmic(field: str, title: str | None, **axis: Any) -> dict[str, Any]:
    """A channel of numbers above zero on a logarithmic axis."""
    return {"field": field, "type": "quantitative", "scale": {"type": "log", "nice": False},
            "axis": {"title": title, "tickCount": 5, **axis}}  # fmt: skip


def by_name(field: str, names: Sequence[str]) -> dict[str, Any]:
    """Colour and dashes of named lines: an all-reduce algorithm has those that it has in every figure."""
    others = [look for name, look in palette.LINES.items() if name not in names]
    spare = iter(sorted(others, key=lambda look: look == palette.LINES["naive"]))  # the second one without dashes: last
    looks = [palette.LINES.get(name) or next(spare) for name in names]
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
    title, _, told = words.partition(". ")
    return svg.document(max(svg.WIDTH, width), height, title, told, [inner])
