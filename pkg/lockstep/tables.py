"""A table with a caption and column headers, for a notebook and for a terminal; and the published ones in ``data``."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

STYLE = "text-align:left;vertical-align:top;padding:.25em .4em"
LONG = re.compile(r"\S{20,}")  # an address, or a name in Python: it may go on in the next line here:
BREAKS = re.compile(r"(?<=[/._])|(?<=[a-z])(?=[A-Z])")
WIDTHS = ((10, "white-space:nowrap"), (40, ""), (10**6, "min-width:9em"))  # by characters; what is longer than 10 wraps


@dataclass(frozen=True)
class Table:
    """``rows`` of texts, each as long as ``head``."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col" style="{STYLE};white-space:normal">{html.escape(h)}</th>' for h in self.head)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows)
        caption = f'<caption style="text-align:left;padding:.3em .8em">{html.escape(self.caption)}</caption>'
        table = f'<table style="font-size:13px">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        return f'<div style="overflow-x:auto">{table}</div>'

    def __repr__(self) -> str:
        lines = [list(self.head), *map(list, self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        told = ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        return "\n".join([self.caption, *told])


def _cell(text: str) -> str:
    """In a page of 508 pixels, what JupyterLab leaves of 960, a table should not have to be scrolled."""
    width = next(style for most, style in WIDTHS if len(text) <= most)
    broken = LONG.sub(lambda word: BREAKS.sub("<wbr>", word[0]), html.escape(text))
    return f'<td style="{STYLE};white-space:normal;{width}">{broken}</td>'


def published(part: str, file: str) -> list[dict[str, str]]:
    """The rows of the CSV table ``data/file`` of a part of this package, by the names in its head. Its lines that begin
    with # say where each number is from."""
    lines = files("lockstep").joinpath(part, "data", file).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
