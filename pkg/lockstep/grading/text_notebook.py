"""Read a lesson or a lab as its author wrote it: a text notebook in the py:percent format.

A lesson's cells may carry marks, ``lesson="after ring-bytes"``: ``lockstep.grading.lesson_parts`` has them.

A lab's cells carry short tags::

    # %% lab="readonly imports"           given, and restored when the lab is graded
    # %% lab="answer ring_all_reduce"     solved here; a student gets what is outside BEGIN SOLUTION … END SOLUTION
    # %% lab="given mend_ring_of_sends"   a broken function: it goes into the student's answer cell instead
    # %% lab="tests ring_all_reduce"      one call to check; its points come from the exercise
    # %% lab="hint ring_all_reduce"       Markdown, three parts with a line --- between: nested, and folded

A tag is written once and names its cell for good: ``answer-ring_all_reduce`` is the cell's id and its grade id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext

KINDS = ("readonly", "given", "answer", "tests", "hint")
_MARKER = re.compile(r"^# %%(?!%)")
_TAG = re.compile(r"(?P<kind>[a-z]+) (?P<name>[a-z][a-z0-9_-]{0,49})")
_BROKEN = "incorrectly_encoded_metadata"
_JUPYTEXT_ONLY = ("lab", "lesson", "title", "lines_to_next_cell", "lines_to_end_of_cell_marker", "cell_marker", _BROKEN)


@dataclass(frozen=True)
class Cell:
    """One cell of a text notebook; ``tag`` is empty for a cell that is only read or run."""

    type: str  # "code" or "markdown"
    source: str
    tag: str = ""  # as written: "answer ring_all_reduce"
    line: int = 0
    unread: str = ""  # what follows the marker and makes no sense
    metadata: dict[str, Any] = field(default_factory=dict)
    lesson: str = ""  # a lesson's mark, as written: "after ring-bytes"

    @property
    def kind(self) -> str:
        """One of KINDS, or empty."""
        return self.tag.split()[0] if self.well_tagged else ""

    @property
    def name(self) -> str:
        """The exercise's, for answer, given and tests."""
        return self.tag.split()[1] if self.well_tagged else ""

    @property
    def well_tagged(self) -> bool:
        match = _TAG.fullmatch(self.tag)
        return match is not None and match["kind"] in KINDS


@dataclass(frozen=True)
class Problem:
    """One line of error: what is wrong with which cell of which file."""

    file: str
    cell: Cell
    sentence: str

    def __str__(self) -> str:
        tag = self.cell.tag or self.cell.lesson
        named = f'cell "{tag}": ' if tag else ""
        return f"{self.file}:{self.cell.line}: {named}{self.sentence}"


def read(path: Path) -> list[Cell]:
    """The cells of the text notebook at ``path``."""
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> list[Cell]:
    cells = jupytext.reads(text, fmt="py:percent").cells
    lines = _marker_lines(text, len(cells))
    return [_cell(cell, line) for cell, line in zip(cells, lines, strict=True)]


def _cell(cell: Any, line: int) -> Cell:
    kept = {k: v for k, v in cell.metadata.items() if k not in _JUPYTEXT_ONLY}
    unread = str(cell.metadata.get(_BROKEN, ""))
    tag, mark = (" ".join(str(cell.metadata.get(key, "")).split()) for key in ("lab", "lesson"))
    return Cell(cell.cell_type, cell.source, tag, line, unread, kept, mark)


def _marker_lines(text: str, cells: int) -> list[int]:
    """Where each cell begins, counted from 1; text above the first marker is a cell too, and begins at line 1."""
    found = [i for i, line in enumerate(text.splitlines(), 1) if _MARKER.match(line)]
    return ([1] * cells + found)[-cells:] if cells else []
