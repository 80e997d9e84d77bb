"""registers(): SIMD lanes and accumulators: each row is a vector register that accumulates, each box a number in it."""

from __future__ import annotations

from lockstep.cpu.assembly import Loop
from lockstep.show import palette, svg
from lockstep.show.figure import Picture

BOX, GAP, LEFT, TOP, MOST_ROWS = 26.0, 4.0, 14.0, 58.0, 16
WIDTH = svg.WIDTH


def registers(loop: Loop) -> Picture:
    """The registers into which an innermost loop adds up. See ``lockstep.cpu.compiled.inner_loop``."""
    lanes = loop.chains[0].lanes if loop.chains else loop.lanes
    return Picture.of(draw_registers(lanes, loop.element_bits, max(1, len(loop.chains)), bool(loop.chains)))


def draw_registers(lanes: int, bits: int, chains: int, accumulates: bool, note: str = "") -> str:
    """``chains`` registers of ``lanes`` numbers of ``bits`` bits. If nothing is ``accumulates``, one instruction."""
    rows = min(chains, MOST_ROWS)
    head = _head(lanes, bits, chains, accumulates)
    heads = svg.wrapped(head, WIDTH - 2 * LEFT, 14)
    top = TOP + 18 * (len(heads) - 1)
    bottom = top + rows * (BOX + GAP)
    body = [
        *(svg.text(LEFT, 24 + 18 * i, words, 14, font_weight=600) for i, words in enumerate(heads)),
        svg.faint(LEFT, top - 15, _told(lanes, chains, accumulates)),
        *(_box(lane, row, top, accumulates) for row in range(rows) for lane in range(lanes)),
        svg.faint(LEFT, bottom + 14, note) if note else "",
    ]
    return svg.document(WIDTH, bottom + (26 if note else 8), head, _told(lanes, chains, accumulates), body)


def _head(lanes: int, bits: int, chains: int, accumulates: bool) -> str:
    numbers = f"{lanes} float{bits} in each instruction" if lanes > 1 else f"one float{bits} in each instruction"
    if not accumulates:
        return f"The innermost loop: {numbers}"
    return f"The innermost loop: {numbers}, {chains} accumulator{'s' if chains > 1 else ''}"


def _told(lanes: int, chains: int, accumulates: bool) -> str:
    if not accumulates:
        return "Nothing waits for the turn before: every element stands for itself."
    if lanes * chains == 1:
        return "One sum: each addition waits for the one before."
    return f"{lanes * chains} sums that need nothing of each other: a box is a sum."


def _box(lane: int, row: int, top: float, accumulates: bool) -> str:
    x, y = LEFT + lane * (BOX + GAP), top + row * (BOX + GAP)
    fill = palette.COLOURS["recv"] if accumulates else palette.COLOURS["gather"]
    return svg.element("rect", x=x, y=y, width=BOX, height=BOX, rx=3, fill=fill, stroke=palette.INK, stroke_width=0.6)
