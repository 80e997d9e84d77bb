"""A product X·A on two ranks, with A cut by columns and by rows: what each rank needs, and what it has."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, card

SIDE = 48.0  # pixels of a whole matrix's side
COLOURS = (palette.COLOURS["all_reduce"], palette.COLOURS["send"])  # of ranks 0 and 1
TOLD = (
    "The product X times A on two ranks, in two ways. A cut by columns: each rank needs all of X, and has half of the "
    "columns of the result; the halves stand side by side. A cut by rows: each rank needs half of the columns of X, "
    "and has numbers for the whole result; both have to be added."
)


def draw() -> str:
    body = [*_way("cut by columns", 40, True), *_way("cut by rows", 136, False)]
    return card(228, "Two ways to cut a product in two", TOLD, body)


def _way(words: str, top: float, by_columns: bool) -> Iterator[str]:
    yield svg.text(EDGE, top + 30, words)
    for rank in range(2):
        x = 122 + 210 * rank
        yield svg.text(x, top + 8, f"rank {rank}")
        y = top + 16
        share = (rank / 2, (rank + 1) / 2)
        yield _matrix(x, y, "X", (0, 1) if by_columns else share, (0, 1), rank)
        yield svg.text(x + SIDE + 10, y + 28, "·", 16, text_anchor="middle")
        yield _matrix(x + SIDE + 20, y, "A", share if by_columns else (0, 1), (0, 1) if by_columns else share, rank)
        yield svg.text(x + 2 * SIDE + 30, y + 28, "→", 14, text_anchor="middle")
        yield _matrix(x + 2 * SIDE + 40, y, "Y", share if by_columns else (0, 1), (0, 1), rank)
    yield svg.text(EDGE, top + 50, "side by side" if by_columns else "add both", font_weight=600)


def _matrix(x: float, y: float, name: str, across: tuple[float, float], down: tuple[float, float], rank: int) -> str:
    """The whole matrix as a rim, and filled what the rank has of it."""
    frame = svg.element("rect", x=x, y=y, width=SIDE, height=SIDE, fill=palette.LANE, stroke=palette.FAINT)
    part = {"x": x + SIDE * across[0], "y": y + SIDE * down[0]}
    size = {"width": SIDE * (across[1] - across[0]), "height": SIDE * (down[1] - down[0])}
    middle = part["x"] + size["width"] / 2, part["y"] + size["height"] / 2 + 4
    fill = COLOURS[rank]
    return (
        frame
        + svg.element("rect", **part, **size, fill=fill)
        + svg.text(*middle, name, text_anchor="middle", fill=palette.text_on(fill))
    )
