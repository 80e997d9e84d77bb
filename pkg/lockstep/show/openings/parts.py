"""What the opening pictures share: a card with a heading, boxes with words, arrows with words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lockstep.show import palette, svg

EDGE = 14.0


def card(height: float, heading: str, told: str, body: Iterable[str]) -> str:
    """The whole picture: ``heading`` is its idea in a few words, ``told`` its alternative text."""
    head = svg.text(EDGE, 25, heading, 14, font_weight=600)
    return svg.document(svg.WIDTH, height, heading, told, [head, *body])


def box(x: float, y: float, width: float, height: float, words: str = "", fill: str = palette.LANE, **look: Any) -> str:
    """A box with words in its middle."""
    drawn = svg.element("rect", x=x, y=y, width=width, height=height, rx=3, fill=fill, **look)
    if not words:
        return drawn
    ink = palette.INK if fill == "none" else palette.text_on(fill)
    return drawn + svg.text(x + width / 2, y + height / 2 + 4, words, text_anchor="middle", fill=ink)


def rim(x: float, y: float, width: float, height: float, words: str = "") -> str:
    """The same without a filling, dashed: what is not there now."""
    return box(x, y, width, height, words, "none", stroke=palette.FAINT, stroke_dasharray="3 2")


def arrow(x1: float, y1: float, x2: float, y2: float, words: str = "", fill: str = palette.INK) -> str:
    """An arrow, with words at its middle."""
    drawn = svg.arrow(x1, y1, x2, y2, head=7, fill=fill, stroke_width=1.8)
    if not words:
        return drawn
    halo = svg.HALO | {"stroke": palette.PAPER}
    return drawn + svg.text((x1 + x2) / 2, (y1 + y2) / 2 - 5, words, text_anchor="middle", fill=palette.INK, **halo)


def heads(names: Iterable[str], left: float, pitch: float, y: float) -> Iterator[str]:
    """Names above columns."""
    for number, name in enumerate(names):
        yield svg.text(left + pitch * (number + 0.5), y, name, text_anchor="middle")


def key(entries: Iterable[tuple[str, str]], x: float, y: float) -> Iterator[str]:
    """What each colour means, in a line."""
    for fill, words in entries:
        yield svg.element("rect", x=x, y=y - 10, width=12, height=12, rx=2, fill=fill)
        yield svg.text(x + 17, y, words)
        x += 17 + 6.8 * len(words) + 16
