"""What a benchmark found: rows that a program can read, and a table that a person can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Cell = str | int | float
Row = Mapping[str, Cell]


@dataclass(frozen=True)
class Table:
    """All rows have the same columns, and the first row names them: "wall [ms]" has its unit, a ratio has none."""

    title: str
    rows: Sequence[Row]
    notes: Sequence[str] = ()

    def text(self) -> str:
        lines = [list(self.rows[0]), *([shown(cell) for cell in row.values()] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        left = [isinstance(cell, str) for cell in self.rows[0].values()]
        return "\n".join([self.title, "", *(_line(cells, widths, left) for cells in lines), *_remarks(self.notes)])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def shown(cell: Cell) -> str:
    """Three digits are more than a benchmark knows."""
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"


def size_of(nbytes: int) -> str:
    """4096 → "4 KiB"."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if nbytes >= unit:
            return f"{nbytes / unit:g} {name}"
    return f"{nbytes} B"


def _line(cells: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    padded = (c.ljust(w) if flush else c.rjust(w) for c, w, flush in zip(cells, widths, left, strict=True))
    return "  " + "  ".join(padded).rstrip()


def _remarks(notes: Sequence[str]) -> list[str]:
    return ["", *(f"  {note}" for note in notes)] if notes else []
