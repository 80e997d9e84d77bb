"""A class as its learning management system (LMS) lists it: the CSV that Moodle or Canvas has exported.

Which row is whose is found by a column that has the names under which the labs were handed in: as they are, or before
the @ of an address. Nothing is guessed: what fits two rows fits none.
"""

from __future__ import annotations

import codecs
import csv
import io
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.checks.wording import listed, printable
from lockstep.errors import UsageError

MOODLE, CANVAS = "moodle", "canvas"
SECTION = "Section"  # the last of Canvas' columns that say who it is; custom columns and assignments follow
POSSIBLE = "Points Possible"
ORDERS = ("utf-16", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MOST = 20 << 20  # bytes of a file
Row = tuple[str, ...]


@dataclass(frozen=True)
class LmsList:
    """An exported CSV. ``possible``: Canvas' row of points possible, empty where there is none."""

    file: Path
    kind: str
    header: Row
    learners: Sequence[Row]
    possible: Row = ()

    def named(self) -> Row:
        """The columns that may say who it is."""
        return self.header[: self.header.index(SECTION) + 1] if self.kind == CANVAS else self.header

    def cell(self, row: Row, column: str) -> str:
        return row[self.header.index(column)]


@dataclass(frozen=True)
class Matched:
    """Whose row is which, by the cells of ``column``. ``unclear``: students whose name fits more than one row, or
    whose row fits another name, too; ``unknown``: those that no row fits; ``idle``: rows that fit nobody."""

    column: str
    rows: Mapping[str, Row]
    unclear: Sequence[str] = ()
    unknown: Sequence[str] = ()
    idle: Sequence[Row] = ()


def read_lms_list(file: Path) -> LmsList:
    """The list in ``file``: comma, semicolon or tab between the cells, UTF-8 or UTF-16. Raises UsageError."""
    rows = _rows(file, _text(file))
    if len(rows) < 2:
        raise UsageError(f"{printable(str(file))} lists nobody.", "Export it anew, with the learners and their names.")
    header = rows[0]
    if again := sorted({name for name in header if name and header.count(name) > 1}):
        raise UsageError(
            f"{printable(str(file))} has two columns named {printable(again[0])}.", "Name one of them otherwise."
        )
    if not _of_canvas(header):
        return LmsList(file, MOODLE, header, rows[1:])
    possible = next((row for row in rows[1:] if POSSIBLE in row[0]), ())
    learners = [row for row in rows[1:] if POSSIBLE not in row[0] and any(row[: header.index(SECTION)])]
    return LmsList(file, CANVAS, header, learners, possible)


def matched(lms: LmsList, students: Sequence[str], column: str = "") -> Matched:
    """The rows of ``students``, by ``column``, else by the one that fits most of them. Raises UsageError where none
    fits anybody, or two fit as many and do not agree."""
    if column and column not in lms.header:
        raise no_column(lms, column)
    found = [_by(lms, students, name) for name in ([column] if column else lms.named()) if name]
    most = max((len(one.rows) for one in found), default=0)
    if not most:
        raise UsageError(
            f"In {printable(str(lms.file))} no row has the name of anybody who has handed in.",
            "A column of it must have these names, or addresses that begin with them: --lms-names COLUMN.",
        )
    best = [one for one in found if len(one.rows) == most]
    if any(one.rows != best[0].rows for one in best):
        names = listed([printable(one.column) for one in best])
        raise UsageError(
            f"In {printable(str(lms.file))} the columns {names} name different learners.",
            "Say which one has the names under which labs were handed in: --lms-names COLUMN.",
        )
    return best[0]


def no_column(lms: LmsList, column: str) -> UsageError:
    names = listed([printable(name) for name in lms.header if name])
    return UsageError(f"{printable(str(lms.file))} has no column {printable(column)}.", f"It has {names}.")


def _by(lms: LmsList, students: Sequence[str], column: str) -> Matched:
    whole, local = defaultdict(list), defaultdict(list)
    for i, row in enumerate(lms.learners):
        cell = _folded(lms.cell(row, column))
        whole[cell].append(i)
        if "@" in cell:
            local[cell.rpartition("@")[0]].append(i)
    fitting = {s: whole.get(_folded(s)) or local.get(_folded(s)) or [] for s in students}
    claims = defaultdict(list)
    for student, rows in fitting.items():
        for i in rows:
            claims[i].append(student)
    sure = {s: rows[0] for s, rows in fitting.items() if len(rows) == 1 and len(claims[rows[0]]) == 1}
    return Matched(
        column,
        {s: lms.learners[i] for s, i in sure.items()},
        [s for s in students if fitting[s] and s not in sure],
        [s for s in students if not fitting[s]],
        [row for i, row in enumerate(lms.learners) if i not in claims],
    )


def _folded(text: str) -> str:
    """The same for an umlaut that is one character or two, and for large and small letters."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def _of_canvas(header: Row) -> bool:
    """As Canvas' own importer tells its header: a name in one column or in two, then an ID, and a section."""
    names = (len(header) > 3 and header[0] == "Student" and "ID" in header[1]) or (
        len(header) > 4 and header[:2] == ("LastName", "FirstName") and "ID" in header[2]
    )
    return names and SECTION in header


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            read = opened.read(MOST + 1)
    except OSError as error:
        raise UsageError(
            f"{printable(str(file))} could not be read: {error.strerror}.", "Name the CSV that your LMS has exported."
        ) from None
    if len(read) > MOST:
        raise UsageError(
            f"{printable(str(file))} is too large for a class.", "Name the CSV that your LMS has exported."
        )
    code = ORDERS[0] if read.startswith(ORDERS[1:]) else "utf-8-sig"
    try:
        text = read.decode(code)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UsageError(
            f"{printable(str(file))} is no text in UTF-8.",
            "Name the CSV as your LMS has exported it; a spreadsheet saves it as “CSV UTF-8”.",
        )
    return text


def _rows(file: Path, text: str) -> list[Row]:
    """All rows that are not empty, each as long as the header."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    between = max(",;\t", key=first.count)
    try:
        found = list(_filled(text, between))
    except csv.Error as error:
        raise UsageError(
            f"{printable(str(file))} is no CSV: {error}.", "Export it anew, and change nothing in it by hand."
        ) from None
    wide = len(found[0][1]) if found else 0
    for line, row in found:
        if len(row) > wide:
            raise UsageError(
                f"{printable(str(file))} has {len(row)} cells in line {line}, and {wide} in its header.",
                "Export it anew, and change nothing in it by hand.",
            )
    return [tuple(row + [""] * (wide - len(row))) for _, row in found]


def _filled(text: str, between: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
    for row in reader:
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield reader.line_num, cells
