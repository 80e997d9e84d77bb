"""SVG as text: elements, and a document that screen readers can read.

Every colour is written as an attribute, for the light card that a static figure is drawn on. The classes ``ls-ink``,
``ls-faint``, ``ls-lane`` and ``ls-paper`` let a widget's style sheet repaint the same drawing for a dark theme, since
CSS wins over attributes.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from html import escape
from typing import Any
from zlib import crc32

from lockstep.show.palette import FAINT, INK, LANE, PAPER

WIDTH = 540.0  # of a figure: in JupyterLab at 960 pixels, next to the file browser, 508 are left of it,
SMALL = 12.0  # and then the smallest text is 11.3 pixels high
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
NARROW, BROAD = frozenset(" iljtfrI.,:;'|!()[]-·/"), frozenset("mwMW@%…—×µ≈→←")  # letters
# Keeps words readable above lines; with the class ls-halo it follows the theme.
HALO: dict[str, Any] = {"stroke": LANE, "stroke_width": 3, "paint_order": "stroke", "stroke_linejoin": "round"}


def element(tag: str, *inside: str, **attributes: Any) -> str:
    """``element("rect", x=1, stroke_width=2)`` → ``<rect x="1" stroke-width="2"/>``.

    ``inside`` is SVG already. An attribute that is None is left out.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{written}/>"


def _value(value: Any) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else escape(str(value))


def text(x: float, y: float, words: str, size: float = SMALL, **attributes: Any) -> str:
    """Words with their baseline at (x, y), in the colour of ink unless ``fill`` is given."""
    if "fill" not in attributes:
        attributes |= {"fill": INK, "class_": "ls-ink"}
    return element("text", escape(words), x=float(x), y=float(y), font_size=size, **attributes)


def faint(x: float, y: float, words: str, size: float = SMALL, **attributes: Any) -> str:
    """The same in the colour of axes and side remarks."""
    return text(x, y, words, size, fill=FAINT, class_="ls-faint", **attributes)


def wrapped(words: str, width: float, size: float = SMALL, letter: float = 0.6) -> list[str]:
    """``words`` in lines of at most ``width`` pixels; a letter is ``letter`` times as wide as its size, or less."""
    return textwrap.wrap(words, max(8, int(width / (letter * size)))) or [""]


def length(words: str, size: float = SMALL, is_bold: bool = False) -> float:
    """Pixels that ``words`` take, or a few more: measured in DejaVu Sans, which is wider than other system fonts."""
    ems = sum(0.41 if c in NARROW else 0.99 if c in BROAD else 0.78 if c.isupper() else 0.64 for c in words)
    return ems * size * (1.1 if is_bold else 1.0)


def fitting(words: str, room: float, size: float = SMALL, is_bold: bool = False) -> str:
    """``words``, or as many of their letters as ``room`` pixels hold, and an ellipsis."""
    if length(words, size, is_bold) <= room:
        return words
    kept = words
    while kept and length(f"{kept}…", size, is_bold) > room:
        kept = kept[:-1]
    return f"{kept.rstrip(' ,.')}…"


def named(x: float, y: float, words: str, room: float, size: float = SMALL, **attributes: Any) -> str:
    """A name at (x, y) in ``room`` pixels. What is cut is its tooltip."""
    short = fitting(words, room, size, attributes.get("font_weight", 400) >= 600)
    label = text(x, y, short, size, **attributes)
    return label if short == words else element("g", title(words), label)


def heading(x: float, y: float, words: str, size: float = 14) -> list[str]:
    """Bold lines from (x, y) down to the right margin, 18 pixels apart."""
    room = WIDTH - x - 14
    lines = [words] if length(words, size, True) <= room else wrapped(words, room, size, 0.7)
    return [text(x, y + 18 * i, line, size, font_weight=600) for i, line in enumerate(lines)]


def bar(x: float, y: float, width: float, height: float, value: float, *inside: str, **attributes: Any) -> str:
    """A rectangle whose length is in proportion to ``value``: a test holds that for all bars of a drawing. It lies;
    one with ``data_along="y"`` stands."""
    place = {"x": float(x), "y": float(y), "width": float(width), "height": float(height)}
    return element("rect", *inside, **place, data_value=f"{value:.6g}", **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> str:
    if "stroke" not in attributes:
        attributes |= {"stroke": INK, "class_": "ls-line"}
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **attributes)


def lane(x: float, y: float, width: float, height: float) -> str:
    """The strip behind a rank's bars."""
    return element("rect", x=x, y=y, width=width, height=height, rx=2, fill=LANE, class_="ls-lane")


def title(words: str) -> str:
    """The tooltip and accessible name of the element that this is put into."""
    return element("title", escape(words))


def arrow(x1: float, y1: float, x2: float, y2: float, head: float = 6, fill: str = INK, **attributes: Any) -> str:
    """A straight arrow whose tip is at (x2, y2)."""
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    bx, by = x2 - head * ux, y2 - head * uy
    half = 0.42 * head
    tip = f"M{x2:.1f},{y2:.1f}L{bx - half * uy:.1f},{by + half * ux:.1f}L{bx + half * uy:.1f},{by - half * ux:.1f}z"
    is_ink = fill == INK
    shaft = line(x1, y1, bx, by, stroke=fill, class_="ls-line" if is_ink else None, **attributes)
    return shaft + element("path", d=tip, fill=fill, class_="ls-ink" if is_ink else None)


def document(width: float, height: float, name: str, description: str, body: Iterable[str]) -> str:
    """A whole figure on its card: ``name`` is its title, ``description`` its alternative text."""
    inside = "".join(body)
    mark = (
        f"{crc32((name + description + inside).encode()):08x}"  # the same figure gets the same ids, another one others
    )
    head, told = f"ls-title-{mark}", f"ls-desc-{mark}"
    return element(
        "svg",
        element("title", escape(name), id=head),
        element("desc", escape(description), id=told),
        element("rect", width=float(width), height=float(height), rx=4, fill=PAPER, class_="ls-paper"),
        inside,
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", width=f"{width:g}",
        height=f"{height:g}", role="img", aria_labelledby=f"{head} {told}", font_family=FONT,
        style="max-width:100%;height:auto",
    )  # fmt: skip
