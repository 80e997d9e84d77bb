"""matrix_cuts(): a product by columns and by rows, and which rank has which numbers of it; a slider for the ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lockstep.errors import UsageError
from lockstep.show import palette, quantities, svg
from lockstep.show.lines import WORKERS
from lockstep.show.player import Player, Sheet, Slider
from lockstep.tensor_parallel.f_and_g import share

TOKENS, INPUTS, OUTPUTS = 4, 6, 7  # X is (tokens, inputs), A is (inputs, outputs); few ranks divide them
MANY = (1, 2, 3, 4)
CELL, STEP = 13.0, 15.0  # pixels of a number, and from a summand to the next one
X, A, Y = 108.0, 226.0, 364.0  # where each matrix begins
PANELS = {"by columns": 92.0, "by rows": 244.0}  # and each way
BELOW = {
    "by columns": "Each rank has whole numbers of Y, in some columns. Nothing has travelled.",
    "by rows": "Each rank has a summand of every number of Y. An all-reduce adds them up.",
}
NOTE = {"by columns": 104.0, "by rows": 124.0}  # where its sentence is, below the matrices
WIDTH, HEIGHT = svg.WIDTH, 384.0
ALIKE = palette.COLOURS["compute"]

Owner = Callable[[int, int], int | None]  # (row, column) -> rank; None: every rank


class MatrixCuts(Player):
    """Each number of ranks is drawn ahead. See ``matrix_cuts``."""

    label = "A product in parts"

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        super().__init__([draw(ranks)], [words(ranks)])

    def sliders(self) -> tuple[Slider]:
        return (Slider("ranks K", [str(k) for k in MANY], MANY.index(self.ranks)),)

    def sheets(self) -> list[Sheet]:
        return [Sheet([draw(k)], [words(k)]) for k in MANY]


def matrix_cuts(ranks: int = 2) -> MatrixCuts:
    """X·A = Y on ``ranks`` ranks, A cut by columns and by rows: each number has the colour of the rank that has it. The
    slider begins at ``ranks``. Raises UsageError for a number that it does not have."""
    if ranks not in MANY:
        raise UsageError(f"There is no picture of {ranks} ranks.", f"Choose {MANY[0]} to {MANY[-1]}.")
    return MatrixCuts(ranks)


def owner(i: int, n: int, ranks: int) -> int:
    """The rank that has number i of n."""
    return next(r for r in range(ranks) if i < share(n, ranks, r).stop)


def words(ranks: int) -> str:
    """The figure for those who do not see it."""
    columns, rows = ([_size(n, ranks, r) for r in range(ranks)] for n in (OUTPUTS, INPUTS))
    return (
        f"X·A = Y on {quantities.count(ranks, 'rank')}. By columns: ranks have {_told(columns)} of the {OUTPUTS} "
        f"columns of A and of Y, and all of X. By rows: they have {_told(rows)} of the {INPUTS} columns of X and rows "
        "of A, and each has a summand of all of Y."
    )


def _size(n: int, ranks: int, r: int) -> int:
    part = share(n, ranks, r)
    return int(part.stop - part.start)


def _told(sizes: list[int]) -> str:
    return ", ".join(map(str, sizes))


# ---- the drawing


def draw(ranks: int) -> str:
    body = [
        svg.text(14, 26, f"Who has which numbers of X·A = Y: {quantities.count(ranks, 'rank')}", 14, font_weight=600),
        *_legend(ranks),
        *_by_columns(ranks, PANELS["by columns"]),
        *_by_rows(ranks, PANELS["by rows"]),
    ]
    for way, y in PANELS.items():
        body += [svg.text(14, y + 32, way, font_weight=600), svg.faint(14, y + NOTE[way], BELOW[way])]
    return svg.document(WIDTH, HEIGHT, "A product by columns and by rows", words(ranks), body)


def _legend(ranks: int) -> Iterator[str]:
    names = [(f"rank {r}", WORKERS[r]) for r in range(ranks)]
    for i, (name, colour) in enumerate([*names, ("every rank", ALIKE)]):
        yield svg.element("rect", x=14.0 + 76 * i, y=42.0, width=12.0, height=12.0, rx=2, fill=colour)
        yield svg.text(31 + 76 * i, 52.5, name)


def _by_columns(ranks: int, y: float) -> Iterator[str]:
    def of_column(row: int, column: int) -> int:
        return owner(column, OUTPUTS, ranks)

    yield from _matrix("X", X, y, TOKENS, INPUTS, lambda row, column: None)
    yield from _matrix("A", A, y, INPUTS, OUTPUTS, of_column)
    yield from _matrix("Y", Y, y, TOKENS, OUTPUTS, of_column)
    yield from _signs(y)


def _by_rows(ranks: int, y: float) -> Iterator[str]:
    yield from _matrix("X", X, y, TOKENS, INPUTS, lambda row, column: owner(column, INPUTS, ranks))
    yield from _matrix("A", A, y, INPUTS, OUTPUTS, lambda row, column: owner(row, INPUTS, ranks))
    for r in range(ranks):
        name = "" if r else "Y, a summand each" if ranks > 1 else "Y"
        yield from _matrix(name, Y + STEP * r, y + STEP * r, TOKENS, OUTPUTS, _only(r))
    yield from _signs(y)


def _only(rank: int) -> Owner:
    return lambda row, column: rank


def _matrix(name: str, x: float, y: float, rows: int, columns: int, of: Owner) -> Iterator[str]:
    if name:
        yield svg.text(x, y - 8, name, font_style="italic")
    for row in range(rows):
        for column in range(columns):
            rank = of(row, column)
            fill = ALIKE if rank is None else WORKERS[rank]
            whose = "every rank has it" if rank is None else f"rank {rank} has it"
            told = svg.title(f"{name or 'Y'}, row {row}, column {column}: {whose}")
            place = {"x": x + CELL * column, "y": y + CELL * row, "width": CELL - 1, "height": CELL - 1}
            yield svg.element("rect", told, **place, fill=fill, stroke=palette.PAPER, stroke_width=0.5)


def _signs(y: float) -> Iterator[str]:
    for x, sign in ((A - 24, "·"), (Y - 26, "=")):
        yield svg.text(x, y + 32, sign, 18, font_weight=600)
