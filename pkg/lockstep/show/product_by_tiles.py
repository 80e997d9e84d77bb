"""product_by_tiles(): what one block of a tiled matrix product brings into shared memory, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lockstep.show import palette, svg
from lockstep.show.player import Player

TILES = 4  # along each side of the matrices
BLOCK = (1, 2)  # row and column of the tile of C that this block computes
CELL, LEFT, TOP, GAP = 34.0, 36.0, 214.0, 30.0
NOW, DONE, MINE = palette.ROLES["marked"], palette.ROLES["work"], palette.COLOURS["recv"]

Colour = Callable[[int, int], str | None]  # of the tile in this row and column; None: untouched


class ProductByTiles(Player):
    """A frame for each step of the loop, and one for the store. See ``product_by_tiles``."""

    label = "A product by tiles"

    def __init__(self) -> None:
        steps = range(TILES + 1)
        super().__init__([draw(step) for step in steps], [words(step) for step in steps])


def product_by_tiles() -> ProductByTiles:
    """C = A·B in tiles: one block's way along a row of tiles of A and a column of tiles of B, under a slider."""
    return ProductByTiles()


def words(step: int) -> str:
    """The frame in a sentence or two."""
    row, column = BLOCK
    if step == TILES:
        return f"After {TILES} steps: each thread writes its element of C, once."
    return (
        f"Step {step}: the block brings tile ({row}, {step}) of A and tile ({step}, {column}) of B into shared memory. "
        "Then each thread adds products of a row of the first with a column of the second."
    )


def draw(step: int) -> str:
    row, column = BLOCK
    right, top = LEFT + CELL * TILES + GAP, TOP - CELL * TILES - GAP
    body = [
        svg.text(14, 26, "One block computes one tile of C", 14, font_weight=600),
        *_matrix("A", LEFT, TOP, lambda r, c: _read(r == row, c, step)),
        *_matrix("B", right, top, lambda r, c: _read(c == column, r, step)),
        *_matrix("C", right, TOP, lambda r, c: MINE if step == TILES and (r, c) == BLOCK else None, BLOCK),
    ]
    x = right + CELL * TILES + GAP
    for line, (fill, told) in enumerate(((NOW, "in shared memory now"), (DONE, "was there before"), (MINE, "written"))):
        body.append(svg.element("rect", x=x, y=TOP + 4 + 24 * line, width=13.0, height=13.0, rx=2, fill=fill))
        body.append(svg.text(x + 20, TOP + 15 + 24 * line, told))
    for line, told in enumerate(svg.wrapped(words(step), svg.WIDTH - 28, letter=0.5)):
        body.append(svg.text(14, TOP + CELL * TILES + 28 + 17 * line, told))
    return svg.document(svg.WIDTH, TOP + CELL * TILES + 72, "A product by tiles", words(step), body)


def _read(on_the_way: bool, place: int, step: int) -> str | None:
    if not on_the_way or place > step or step == TILES:
        return DONE if on_the_way and place < step else None
    return NOW if place == step else DONE


def _matrix(name: str, x: float, y: float, colour: Colour, mine: tuple[int, int] | None = None) -> Iterator[str]:
    yield svg.text(x - 18, y + CELL * TILES / 2 + 4, name, 14, font_style="italic")
    for r in range(TILES):
        for c in range(TILES):
            px, py, fill = x + CELL * c, y + CELL * r, colour(r, c)
            if fill:
                yield svg.element("rect", x=px, y=py, width=CELL - 2, height=CELL - 2, rx=2, fill=fill)
            else:
                yield svg.lane(px, py, CELL - 2, CELL - 2)
    if mine:
        px, py = x + CELL * mine[1], y + CELL * mine[0]
        edge = {"fill": "none", "stroke": MINE, "stroke_width": 2}
        yield svg.element("rect", x=px, y=py, width=CELL - 2, height=CELL - 2, rx=2, **edge)
