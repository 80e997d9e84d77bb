"""tensor_core(): one instruction, D = A·B + C, and which lane of the warp holds which element of its matrices."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.figure import Drawn
from lockstep.show.lines import WORKERS
from lockstep.simt import tensor_core as core

SMALL, TOP = 7.0, 62.0  # a number of the equation
WIDE, HIGH, LEFT, BELOW = 22.0, 17.0, 110.0, 246.0  # a number of A, with its lane
Lanes = list[list[int]]  # of each row


def holders(places: core.Places) -> Lanes:
    """The lane that holds each element of a matrix, row by row."""
    rows, columns = places
    held = [[0] * (int(columns.max()) + 1) for _ in range(int(rows.max()) + 1)]
    for lane, (of_rows, of_columns) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        for row, column in zip(of_rows, of_columns, strict=True):
            held[row][column] = lane
    return held


def _colour(lane: int) -> str:
    return WORKERS[lane // 4]


class TensorCore(Drawn):
    """See ``tensor_core``."""

    def caption(self) -> str:
        return (
            f"D = A·B + C in one instruction of a warp: A has {core.M} x {core.K} numbers, B {core.K} x {core.N}, C "
            f"and D {core.M} x {core.N}. Each of the 32 lanes holds 8 numbers of A, 4 of B, and 4 of C and D."
        )

    def svg(self) -> str:
        head = "One instruction of a warp: D = A·B + C"
        body = [svg.text(14, 26, head, 14, font_weight=600), *self._equation(), *self._lanes_of_a()]
        return svg.document(svg.WIDTH, BELOW + HIGH * core.M + 16, head, self.caption(), body)

    def _equation(self) -> Iterator[str]:
        x = 22.0
        parts = (("D", core.C_PLACES, "float32", "="), ("A", core.A_PLACES, "float16", "·"),
                 ("B", core.B_PLACES, "float16", "+"), ("C", core.C_PLACES, "float32", ""))  # fmt: skip
        for name, places, dtype, sign in parts:
            held = holders(places)
            rows, columns = len(held), len(held[0])
            yield svg.text(x, TOP - 8, f"{name}  {rows} x {columns}")
            for row, lanes in enumerate(held):
                for column, lane in enumerate(lanes):
                    told = svg.title(f"{name}, row {row}, column {column}: lane {lane}")
                    place = {"x": x + SMALL * column, "y": TOP + SMALL * row, "width": SMALL - 1, "height": SMALL - 1}
                    yield svg.element("rect", told, **place, fill=_colour(lane))
            yield svg.faint(x, TOP + SMALL * rows + 16, dtype)
            x += max(SMALL * columns, 56) + 22
            yield svg.text(x, TOP + 62, sign, 20, font_weight=600, text_anchor="middle")
            x += 22

    def _lanes_of_a(self) -> Iterator[str]:
        yield svg.text(14, BELOW - 12, "Enlarged: A, and the lane that holds each of its numbers")
        for row, lanes in enumerate(holders(core.A_PLACES)):
            for column, lane in enumerate(lanes):
                x, y, fill = LEFT + WIDE * column, BELOW + HIGH * row, _colour(lane)
                yield svg.element("rect", x=x, y=y, width=WIDE - 1, height=HIGH - 1, fill=fill)
                ink = palette.text_on(fill)
                yield svg.text(x + WIDE / 2 - 0.5, y + 12.5, str(lane), fill=ink, text_anchor="middle")


def tensor_core() -> TensorCore:
    """The matrices of ``mma``, each number in the colour of the four lanes that it belongs to; and A with its lanes."""
    return TensorCore()
