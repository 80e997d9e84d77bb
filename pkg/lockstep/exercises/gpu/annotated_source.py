"""A kernel's source with the cost of each line, drawn: instructions, active lanes, sectors and wavefronts a request."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from lockstep.show.palette import INK
from lockstep.show.svg import MONO, WIDTH, document, element, faint, text, title

LANES, SECTOR = 32, 32
ROW, LEFT, CODE = 18.0, 14.0, 230.0
NUMBER, SOURCE = CODE + 24, CODE + 32  # where a line's number ends, and its text begins
ISSUED, WORKING, SECTORS, WAVES = 56.0, 112.0, 176.0, 226.0  # where the columns end
HEADS = (
    ("instruc-", "tions", ISSUED),
    ("lanes", "at work", WORKING),
    ("sectors", "a request", SECTORS),
    ("wave-", "fronts", WAVES),
)
BAD = "#D55E00"
MOST_COLUMNS, MOST_LINES = 34, 40
TOO_MANY = 2.0  # times the sectors that would hold the bytes, or wavefronts: worth a colour
FEW = 0.5  # lanes


def draw(lines: Sequence[Mapping[str, Any]], marked: Sequence[int] = ()) -> str:
    """``lines``: mappings with the names of `lockstep.simt.LineCounts`; ``marked``: numbers of lines to highlight."""
    shown = [line for line in lines if line["text"].strip()][:MOST_LINES]
    rows = [_folded(line["text"]) for line in shown]
    tops = list(accumulate((ROW * len(row) for row in rows), initial=58.0))
    body = [*_heads()]
    for line, row, y in zip(shown, rows, tops, strict=False):
        body += _line(line, row, y, line["number"] in marked)
    told = f"{len(shown)} lines of a kernel. " + " ".join(_told(line) for line in shown if line["instructions"])
    return document(WIDTH, tops[-1] + 8, "What each line of the kernel cost", told, body)


def _folded(source: str) -> list[str]:
    """A line of source in as many rows as it needs; the later ones are indented a little more."""
    indent = " " * (len(source) - len(source.lstrip()))
    return textwrap.wrap(
        source, MOST_COLUMNS, initial_indent="", subsequent_indent=indent + "    ", drop_whitespace=False
    )


def _heads() -> list[str]:
    drawn = [text(LEFT + SOURCE, 20, "What each line cost", 13, font_weight=600)]
    for first, rest, x in HEADS:
        drawn += [faint(LEFT + x, 20, first, text_anchor="end"), faint(LEFT + x, 35, rest, text_anchor="end")]
    return drawn


def _line(line: Mapping[str, Any], row: Sequence[str], y: float, is_marked: bool) -> list[str]:
    drawn = []
    if is_marked:
        place = {"x": LEFT - 4, "y": y - 13, "width": WIDTH - 2 * LEFT + 8, "height": ROW * len(row)}
        drawn.append(element("rect", **place, rx=2, fill="#FFE8B8"))
    look: dict[str, Any] = {"font_family": MONO, "style": "white-space:pre"} | ({"fill": INK} if is_marked else {})
    drawn.append(faint(LEFT + NUMBER, y, str(line["number"]), text_anchor="end", font_family=MONO))
    for number, words in enumerate(row):
        drawn.append(text(LEFT + SOURCE, y + ROW * number, words, **look))
    return drawn + (_numbers(line, y) if line["instructions"] else [])


def _numbers(line: Mapping[str, Any], y: float) -> list[str]:
    share = line["lanes"] / (LANES * line["instructions"])
    drawn = [
        title(_told(line)),
        _number(ISSUED, y, f"{line['instructions']:,}", False),
        _number(WORKING, y, f"{share:.0%}", share < FEW),
    ]
    if line["global_requests"]:
        enough = max(line["global_requests"], line["global_bytes"] / SECTOR)  # a request moves one sector at least
        crowded = line["sectors"] > TOO_MANY * enough
        drawn.append(_number(SECTORS, y, f"{line['sectors'] / line['global_requests']:.3g}", crowded))
    if line["shared_requests"]:
        waves = line["wavefronts"] / line["shared_requests"]
        drawn.append(_number(WAVES, y, f"{waves:.3g}", waves >= TOO_MANY))
    return [element("g", *drawn)]


def _number(x: float, y: float, words: str, bad: bool) -> str:
    look: dict[str, Any] = {"fill": BAD, "font_weight": 600} if bad else {}
    return text(LEFT + x, y, words, text_anchor="end", **look)


def _told(line: Mapping[str, Any]) -> str:
    share = line["lanes"] / (LANES * line["instructions"])
    return f"Line {line['number']}: {line['instructions']:,} instructions, {share:.0%} of the lanes at work."
