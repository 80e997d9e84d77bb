"""What a loop asks for, what memory sends, and what one instruction can compute with: bytes, to scale."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, card

NUMBER, REGISTER, LINE = 4, 32, 64  # bytes: a float32, a vector register of AVX2, a cache line
BYTE, TALL = 7.8, 24.0  # pixels
ASKED, REST = palette.ROLES["marked"], palette.COLOURS["compute"]
ROWS = (
    ("a loop asks for one number", NUMBER, 1),
    ("memory sends the whole cache line", LINE, 1),
    ("one vector instruction computes with", REGISTER, REGISTER // NUMBER),
)
TOLD = (
    f"Bytes to scale; each square is a number of {NUMBER} bytes. A loop asks for one number, {NUMBER} bytes. Memory "
    f"sends the whole cache line, {LINE} bytes. One vector instruction computes with {REGISTER} bytes, "
    f"{REGISTER // NUMBER} numbers at once."
)


def draw() -> str:
    return card(204, "How much a core can take at once", TOLD, _rows())


def _rows() -> Iterator[str]:
    for row, (words, size, used) in enumerate(ROWS):
        y = 42 + 54 * row
        yield svg.text(EDGE, y + 12, f"{words}: {size} bytes")
        for number in range(size // NUMBER):
            place = {"x": EDGE + BYTE * NUMBER * number, "y": y + 18, "width": BYTE * NUMBER - 2, "height": TALL}
            yield svg.element("rect", **place, rx=2, fill=ASKED if number < used else REST)
