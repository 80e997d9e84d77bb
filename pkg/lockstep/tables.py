"""Tables with a caption and column headers, rendered in notebooks and terminals; reading the CSV files in ``data``."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

STYLE = "text-align:left;vertical-align:top;padding:.25em .3em"
LONG = re.compile(r"\S{16,}")  # a URL or a Python name, which may be broken at these places:
NUMBER = re.compile(r"(?P<whole>[-+−]?[\d,]+)(?P<rest>\.\d+)?(?P<unit> ?[^\d.,]*)")
FIGURE, COMMA = "\u2007", "\u2008"  # spaces as wide as a digit, and as a comma
NOTHING = ("–", "—", "-", "")  # in the place of a number
BREAKS = re.compile(r"(?<=[/._])|(?<=[a-z])(?=[A-Z])")
WIDTHS = ((10, "white-space:nowrap"), (40, ""), (10**6, "min-width:9em"))  # by characters; what is longer than 10 wraps


@dataclass(frozen=True)
class Table:
    """A table of strings: ``head`` has the column headers, and each of ``rows`` one string per column."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    behind: Sequence[Sequence[str]] = ()  # rows that nobody needs at first: in a notebook they are folded

    def folded(self) -> FoldedTable:
        """The whole table behind its caption: for numbers that a chart shows."""
        return FoldedTable(self)

    def _repr_html_(self) -> str:
        if self.behind:
            rest = replace(self, caption="", rows=self.behind, behind=())._repr_html_()
            return f"{replace(self, behind=())._repr_html_()}{_fold(f'Show the {len(self.behind)} rows', rest)}"
        head = "".join(f'<th scope="col" style="{STYLE};white-space:normal">{html.escape(h)}</th>' for h in self.head)
        columns = [zip(column, _beside(column), strict=True) for column in zip(*self.rows, strict=True)]
        body = "".join(f"<tr>{''.join(_cell(*cell) for cell in row)}</tr>" for row in zip(*columns, strict=True))
        caption = f'<caption style="text-align:left;padding:.3em .8em">{html.escape(self.caption)}</caption>'
        table = f'<table style="font-size:13px">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        return f'<div style="overflow-x:auto">{table}</div>'

    def __repr__(self) -> str:
        rows = [*self.rows, *self.behind]
        columns = [
            [f"{' ' * len(before)}{text}" for text, before in zip(column, _beside(column), strict=True)]
            for column in zip(*rows, strict=True)
        ]
        lines = [list(self.head), *(list(row) for row in zip(*columns, strict=True))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        told = ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        return "\n".join([self.caption, *told])


@dataclass(frozen=True)
class FoldedTable:
    """A table that is seen when its caption is clicked."""

    table: Table

    def _repr_html_(self) -> str:
        return _fold(f"The numbers: {self.table.caption}", replace(self.table, caption="")._repr_html_())

    def __repr__(self) -> str:
        return repr(self.table)


def _fold(words: str, inside: str) -> str:
    return f'<details><summary style="font-size:13px">{html.escape(words)}</summary>{inside}</details>'


def _beside(column: Sequence[str]) -> list[str]:
    """Spaces for the digits and commas that each text lacks before its decimal point: the points of a column of
    numbers, all in one unit, stand below each other, and a dash where there is none stands below their last digits.
    None where a cell is neither."""
    found = [NUMBER.fullmatch(text) for text in column]
    is_number = all(match or text in NOTHING for match, text in zip(found, column, strict=True))
    if not is_number or len({match["unit"] for match in found if match}) != 1:
        return [""] * len(column)
    wholes = [match["whole"] if match else text for match, text in zip(found, column, strict=True)]
    long, commas = max(map(len, wholes)), max(whole.count(",") for whole in wholes)
    lacking = [(long - len(whole), commas - whole.count(",")) for whole in wholes]
    return [FIGURE * (all - of_commas) + COMMA * of_commas for all, of_commas in lacking]


def _cell(text: str, before: str = "") -> str:
    """A cell whose words may be broken, so that a table fits into the 508 pixels that JupyterLab leaves of 960."""
    width = next(style for most, style in WIDTHS if len(text) <= most)
    broken = LONG.sub(lambda word: BREAKS.sub("<wbr>", word[0]), html.escape(text))
    if before:
        broken = f'<span style="font-variant-numeric:tabular-nums">{before}{broken}</span>'
    return f'<td style="{STYLE};white-space:normal;{width}">{broken}</td>'


def published(part: str, file: str) -> list[dict[str, str]]:
    """The rows of the CSV file ``data/file`` of a subpackage, as dicts by column name. Lines that begin with # cite the
    sources of the numbers, and are skipped."""
    lines = files("lockstep").joinpath(part, "data", file).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
