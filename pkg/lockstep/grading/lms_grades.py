"""Grades for a learning management system (LMS): a CSV that Moodle's or Canvas' gradebook imports.

Moodle takes any columns, and asks which is what; a grade and its feedback must come together, or the grade is lost
(https://docs.moodle.org/en/Grade_import). Canvas wants its own columns, a row of points possible, and a column for each
assignment (lib/gradebook_importer.rb of instructure/canvas-lms). Both take an empty cell for "no grade", and would
delete one that is there: so a row is written for whoever has a grade, and for nobody else.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.checks.wording import printable
from lockstep.errors import UsageError
from lockstep.grading.atomic_write import write_atomically
from lockstep.grading.class_list import RISKY, UNKNOWN
from lockstep.grading.feedback import sums
from lockstep.grading.grade_submission import Result
from lockstep.grading.lms_list import CANVAS, MOODLE, POSSIBLE, LmsList, Matched, Row, no_column
from lockstep.grading.run_summary import some

NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")
WITH_ID = re.compile(r" \([0-9]+\)$")  # Canvas adds an assignment's number to its title
WHO = ("first name", "last name", "surname", "id number", "username", "email address")  # Moodle's columns of a person
IMPORT = {CANVAS: "Grades › Import in Canvas", MOODLE: "Grades › Import › CSV file in Moodle"}


@dataclass(frozen=True)
class Grade:
    """What the gradebook has: of the checks, by hand and for being late. ``feedback``: in words."""

    points: float
    maximum: float
    feedback: str


def grades(
    results: Mapping[str, Result], scores: Mapping[str, tuple[float, float]], late: Mapping[str, str]
) -> dict[str, Grade]:
    """The grades of those ``results`` that have one in the gradebook (``scores``: points and maximum, by student)."""
    found = {}
    for student, result in results.items():
        if student in scores and result.final and result.exercises:
            points, maximum = scores[student]
            found[student] = Grade(points, maximum, _feedback(result, points, late.get(student, "")))
    return found


class LmsGrades:
    """The column of a lab's grades in an LMS: ``title`` is that of the column, or of the assignment. Raises UsageError
    where ``lms`` has not this one column, or it takes no grades; one that is not named may be a new one."""

    def __init__(self, lms: LmsList, matched: Matched, lab: str, title: str = "") -> None:
        self.lms, self.matched, self.lab, self.title = lms, matched, lab, title or lab
        columns = self._columns(self.title)
        if title and not columns:
            raise no_column(lms, title)
        if len(columns) > 1:
            raise UsageError(
                f"{printable(str(lms.file))} has several columns for {printable(self.title)}.",
                f"Choose one: --lms-column {printable(columns[-1])!r}.",
            )
        self.column = next(iter(columns), "")  # empty: the LMS makes a new one
        if "read only" in self._possible().lower():
            raise UsageError(
                f"Canvas takes no grades for {printable(self.column)}: read only.", "Choose another column."
            )

    def write(self, given: Mapping[str, Grade], at: Path) -> list[str]:
        """Writes ``at``/LAB.moodle.csv or ``at``/LAB.canvas.csv, a row for each learner with a grade. Returns what a
        teacher must know of it, a sentence each. Raises Unwritten."""
        risky = [s for s, row in self.matched.rows.items() if s in given and not self._identified(row)]
        ready = {s: grade for s, grade in given.items() if s in self.matched.rows and s not in risky}
        lines = io.StringIO()
        csv.writer(lines).writerows(self._of_canvas(ready) if self.lms.kind == CANVAS else self._of_moodle(ready))
        write_atomically(at / f"{self.lab}.{self.lms.kind}.csv", lines.getvalue())
        return [*self._told(given, ready, risky), *self._told_of_canvas(ready)]

    def _of_canvas(self, ready: Mapping[str, Grade]) -> Iterator[list[str]]:
        who = self.lms.named()
        yield [*who, self.column or self.lab]
        yield [f"    {POSSIBLE}", *[""] * (len(who) - 1), self._possible() or f"{_maximum(ready):g}"]
        for student, grade in self._in_order(ready):
            yield [*map(_harmless, self.matched.rows[student][: len(who)]), _number(grade.points)]

    def _of_moodle(self, ready: Mapping[str, Grade]) -> Iterator[list[str]]:
        who = [name for name in self.lms.header if name == self.matched.column or self._is_of_a_person(name)]
        yield [*who, self.title, f"{self.title} (feedback)"]
        for student, grade in self._in_order(ready):
            cells = {name: self.lms.cell(self.matched.rows[student], name) for name in who}
            safe = [cell if name == self.matched.column else _harmless(cell) for name, cell in cells.items()]
            yield [*safe, _number(grade.points), _harmless(html.escape(grade.feedback, quote=False))]

    def _in_order(self, ready: Mapping[str, Grade]) -> list[tuple[str, Grade]]:
        """As the LMS has them."""
        place = {row: i for i, row in enumerate(self.lms.learners)}
        return sorted(ready.items(), key=lambda one: place[self.matched.rows[one[0]]])

    def _columns(self, title: str) -> list[str]:
        """The list's columns of this title; Canvas' have a number behind it."""
        columns = self.lms.header[len(self.lms.named()) :] if self.lms.kind == CANVAS else self.lms.header
        if title in columns:
            return [title]
        return [name for name in columns if WITH_ID.sub("", name).casefold() == title.casefold()]

    def _possible(self) -> str:
        """What Canvas' row of points possible says of the column."""
        return self.lms.cell(self.lms.possible, self.column) if self.lms.possible and self.column else ""

    def _is_of_a_person(self, column: str) -> bool:
        cells = [self.lms.cell(row, column) for row in self.lms.learners]
        return column.lower() in WHO or (any(cells) and all("@" in cell for cell in cells if cell))

    def _identified(self, row: Row) -> bool:
        """Whether the cell by which the LMS finds the learner may stand where a spreadsheet looks for formulas."""
        if self.lms.kind == CANVAS:
            return self.lms.cell(row, next(name for name in self.lms.header if "ID" in name)).isdecimal()
        cell = self.lms.cell(row, self.matched.column)
        return _harmless(cell) == cell

    def _told(self, given: Mapping[str, Grade], ready: Mapping[str, Grade], risky: Sequence[str]) -> Iterator[str]:
        file = self.lms.file.name
        yield (
            f"{len(ready)} of {len(given)} grades are in grading/{self.lab}.{self.lms.kind}.csv, for "
            f"{IMPORT[self.lms.kind]}. Learners were found by the column {self.matched.column}."
        )
        if none := sorted(s for s in self.matched.unknown if s in given):
            yield f"{some(none)}: graded, and in no row of {file}. Enter it by hand, or export the list anew."
        if unclear := sorted(s for s in self.matched.unclear if s in given):
            yield f"{some(unclear)}: graded, and it is not clear which row of {file} is whose. Enter it by hand."
        if risky:
            yield f"{some(sorted(risky))}: what the LMS knows them by looks like a formula. Enter it by hand."
        if self.matched.idle:
            names = sorted(" ".join(row[: 1 if row[0].count(" ") else 2]) for row in self.matched.idle)
            yield f"{some(names)}: in {file}, and nothing was handed in. Their cells stay as they are."

    def _told_of_canvas(self, ready: Mapping[str, Grade]) -> Iterator[str]:
        if self.lms.kind == CANVAS and not self.column:
            yield f"{self.lms.file.name} has no column {self.lab}: Canvas will make one. For another: --lms-column."
        possible, maximum = self._possible(), _maximum(ready)
        if ready and NUMBER.fullmatch(possible) and float(possible.replace(",", ".")) != maximum:
            yield f"{self.column} has {possible} points possible in Canvas, and the lab has {maximum:g}. Set it there."


def _maximum(ready: Mapping[str, Grade]) -> float:
    return max((grade.maximum for grade in ready.values()), default=0.0)


def _feedback(result: Result, points: float, late: str) -> str:
    """One line: each exercise, what differs from the checks, what was noted."""
    each = [f"{name} {one.score['points']:g} of {one.score['maximum']:g}" for name, one in result.exercises.items()]
    said = [f"{', '.join(each)}."]
    checked, maximum = sums(result)
    if abs(points - checked) > 1e-9:
        said.append(f"The checks gave {checked:g} of {maximum:g}; the grade was changed by hand, or for being late.")
    if late and late != UNKNOWN:
        said.append(f"Handed in {late} hours late.")
    return " ".join(printable(" ".join([*said, *result.notes])).split())


def _number(points: float) -> str:
    """Two places, as both gradebooks show them."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def _harmless(text: str) -> str:
    plain = printable(text)
    return f"'{plain}" if plain.startswith(RISKY) and not NUMBER.fullmatch(plain) else plain
