"""routed_text(): a piece of source, each byte in the line of the expert that computes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from lockstep.experts.gpt import MixtureGPT
from lockstep.experts.training import routed
from lockstep.show import palette, svg
from lockstep.show.figure import Picture

LEFT, TOP, LINE, GAP, LETTER = 68.0, 54.0, 18.0, 16.0, 7.2  # pixels; a letter of the fixed-width font is so wide
FILLS = tuple(palette.COLOURS[kind] for kind in ("gather", "recv", "send", "compute", "broadcast", "all_reduce"))
DRAWN = {32: "␣", 10: "↵", 9: "→"}  # blanks that would not be seen


def routed_text(model: MixtureGPT, text: Tensor | None = None, pieces: int = 3) -> Picture:
    """``pieces`` of a text that ``model`` has not seen: as it is, and below it a line for each of the experts, in
    which only the bytes are shown that it computes."""
    x, chosen = routed(model, text)
    experts = len(model.mixtures[0].gate.weight)
    height = TOP + pieces * ((experts + 1) * LINE + GAP)
    body = [
        svg.text(14, 24, "Which expert computes which byte", 14, font_weight=600),
        svg.faint(14, 42, "Each byte of the text stands once more, in its expert’s line. ␣ is a blank, ↵ a new line."),
    ]
    for n in range(pieces):
        y = TOP + n * ((experts + 1) * LINE + GAP)
        body += [*_piece(x[n].tolist(), chosen[n].tolist(), experts, y)]
    told = words(chosen[:pieces], experts)
    return Picture(svg.document(svg.WIDTH, height, "Text by expert", told, body), told)


def words(chosen: Tensor, experts: int) -> str:
    counts = ", ".join(f"expert {e} {int((chosen == e).sum())}" for e in range(experts))
    return f"{chosen.numel()} bytes of a text, each in the line of the expert that computes it: {counts}."


def _piece(text: list[int], chosen: list[int], experts: int, y: float) -> Iterator[str]:
    yield svg.faint(14, y + 13, "text")
    yield from (_letter(byte, LEFT + place * LETTER, y + 13) for place, byte in enumerate(text))
    for e in range(experts):
        top = y + (e + 1) * LINE
        fill = FILLS[e % len(FILLS)]
        yield svg.text(14, top + 13, f"expert {e}")
        yield svg.lane(LEFT - 2, top + 1, len(text) * LETTER + 4, LINE - 2)
        for place, byte in enumerate(text):
            if chosen[place] == e:
                x = LEFT + place * LETTER
                said = svg.title(f"{_drawn(byte)}: expert {e}")
                yield svg.element("rect", said, x=x, y=top + 1, width=LETTER, height=LINE - 2, fill=fill)
                yield _letter(byte, x, top + 13, palette.text_on(fill))


def _letter(byte: int, x: float, y: float, fill: str | None = None) -> str:
    colour: dict[str, Any] = {"fill": fill} if fill else {}
    return svg.text(x + LETTER / 2, y, _drawn(byte), font_family=svg.MONO, text_anchor="middle", **colour)


def _drawn(byte: int) -> str:
    return DRAWN.get(byte, chr(byte) if 32 < byte < 127 else "?")
