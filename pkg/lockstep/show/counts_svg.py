"""A kernel's source with what each line cost, drawn: lanes at work as a bar, sectors and wavefronts of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.show.palette import INK
from lockstep.show.svg import MONO, document, element, faint, text, title

LANES, SECTOR = 32, 32
WIDTH, ROW, LEFT, CODE = 860.0, 18.0, 14.0, 300.0
HEADS = (
    ("instructions", 70.0),
    ("lanes at work", 130.0),
    ("sectors a request", 215.0),
    ("wavefronts a request", 280.0),
)
GOOD, BAD, EMPTY = "#0072B2", "#D55E00", "#DDE1E6"
MOST_COLUMNS, MOST_LINES = 66, 40
TOO_MANY = 2.0  # times the sectors that would hold the bytes, or wavefronts: worth a colour
FEW = 0.5  # lanes


def draw(lines: Sequence[Mapping[str, Any]], marked: Sequence[int] = ()) -> str:
    """``lines``: mappings with the names of `lockstep.simt.LineCounts`; ``marked``: numbers of lines to highlight."""
    shown = [line for line in lines if line["text"].strip()][:MOST_LINES]
    body = [*_heads(), *(piece for row, line in enumerate(shown) for piece in _line(line, 58 + ROW * row, marked))]
    told = f"{len(shown)} lines of a kernel. " + " ".join(_told(line) for line in shown if line["instructions"])
    return document(WIDTH, 66 + ROW * len(shown), "What each line of the kernel cost", told, body)


def _heads() -> list[str]:
    drawn = [text(LEFT + CODE + 38, 20, "What each line cost", 13, font_weight=600)]
    for words, x in HEADS:
        first, _, rest = words.partition(" ")
        drawn += [faint(LEFT + x, 20, first, 10, text_anchor="end"), faint(LEFT + x, 32, rest, 10, text_anchor="end")]
    return drawn


def _line(line: Mapping[str, Any], y: float, marked: Sequence[int]) -> list[str]:
    drawn = []
    if line["number"] in marked:
        drawn.append(
            element("rect", x=LEFT - 4, y=y - 13, width=WIDTH - 2 * LEFT + 8, height=ROW, rx=2, fill="#FFE8B8")
        )
    colour = {"fill": INK} if line["number"] in marked else {}
    drawn.append(faint(LEFT + CODE + 28, y, str(line["number"]), text_anchor="end", font_family=MONO))
    words = line["text"][:MOST_COLUMNS]
    drawn.append(text(LEFT + CODE + 38, y, words, 12, font_family=MONO, style="white-space:pre", **colour))
    return drawn + (_numbers(line, y) if line["instructions"] else [])


def _numbers(line: Mapping[str, Any], y: float) -> list[str]:
    share = line["lanes"] / (LANES * line["instructions"])
    bar = element("rect", x=LEFT + 78, y=y - 9, width=30.0, height=9, fill=EMPTY)
    filled = element(
        "rect", title(_told(line)), x=LEFT + 78, y=y - 9, width=30 * share, height=9, fill=_colour(share < FEW)
    )
    drawn = [
        _number(70, y, f"{line['instructions']:,}", False),
        bar,
        filled,
        _number(146, y, f"{share:.0%}", share < FEW),
    ]
    if line["global_requests"]:
        enough = max(line["global_requests"], line["global_bytes"] / SECTOR)  # a request moves one sector at least
        crowded = line["sectors"] > TOO_MANY * enough
        drawn.append(_number(215, y, f"{line['sectors'] / line['global_requests']:.3g}", crowded))
    if line["shared_requests"]:
        waves = line["wavefronts"] / line["shared_requests"]
        drawn.append(_number(280, y, f"{waves:.3g}", waves >= TOO_MANY))
    return drawn


def _number(x: float, y: float, words: str, bad: bool) -> str:
    if bad:
        return text(LEFT + x, y, words, 11, text_anchor="end", fill=BAD, font_weight=600)
    return text(LEFT + x, y, words, 11, text_anchor="end")


def _colour(bad: bool) -> str:
    return BAD if bad else GOOD


def _told(line: Mapping[str, Any]) -> str:
    share = line["lanes"] / (LANES * line["instructions"])
    return f"Line {line['number']}: {line['instructions']:,} instructions, {share:.0%} of the lanes at work."
