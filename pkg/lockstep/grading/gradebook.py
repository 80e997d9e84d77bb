"""The one writer to nbgrader's gradebook: what ``nbgrader export`` and its formgrader then see.

nbgrader's own steps save the grades, from the numbers in the outputs of the tests cells; only that these were put there
by a judge, and not by a kernel.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import subprocess
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor, SaveAutoGrades, SaveCells
from nbgrader.utils import parse_utc
from sqlalchemy.exc import SQLAlchemyError

from lockstep.grading import submission as submissions
from lockstep.grading.atomic_write import RIGHTS, ROOM, Unwritten, unwritten, write_atomically
from lockstep.grading.class_list import SECRET, TIMESTAMP
from lockstep.grading.course import search_path
from lockstep.grading.grade_submission import Result
from lockstep.grading.submission import Notebook

COURSE = "lockstep"
NOTEBOOK = "lab"
LOGS = ("tornado.application", "alembic", "traitlets")  # in which nbgrader logs errors that it raises, too
TELLING: Mapping[int, tuple[str, str]] = {  # what SQLite's errors mean, and what to do
    sqlite3.SQLITE_FULL: ("there is no room for it on its disk", ROOM),
    sqlite3.SQLITE_READONLY: ("it may not be written", RIGHTS),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", RIGHTS),
    sqlite3.SQLITE_PERM: ("it may not be opened", RIGHTS),
    sqlite3.SQLITE_BUSY: ("another program has kept it locked for a minute", "End that one, and run it again."),
    sqlite3.SQLITE_ERROR: (
        "it is no gradebook of this nbgrader's",
        "If an older one has made it, `nbgrader db upgrade` brings it up to date. Then run it again.",
    ),
    **dict.fromkeys(
        (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT),
        (
            "it is broken, or no gradebook",
            "Put a copy of it back, or move it away: then run it again, and what this lab was graded with goes into a "
            "new one.",
        ),
    ),
}


class Book:
    """The gradebook of a course's folder, for one lab."""

    def __init__(self, root: Path, lab: str) -> None:
        self.root, self.lab = root, lab
        self.file = root / "grading" / "gradebook.db"
        os.environ["PATH"] = search_path()  # nbgrader starts alembic by its bare name

    def begin(self, release: Notebook) -> bool:
        """Enter the lab in the gradebook, as ``nbgrader generate_assignment`` does. Whether its cells were new."""
        wanted = {submissions.grade_id(c) for c in release["cells"]} - {""}
        self._make()
        with self._open() as book:
            try:
                known = {cell.name for cell in book.find_notebook(NOTEBOOK, self.lab).source_cells}
            except MissingEntry:
                known = set()
                book.update_or_create_assignment(self.lab)
        if known != wanted:
            try:
                self._step(SaveCells(), release, "")
            except RuntimeError:
                raise Unwritten(
                    f"{self.lab} has other cells than when it was first graded, and the gradebook has grades of it.",
                    f"`nbgrader db assignment remove {self.lab} --force` takes them out, with what was graded by hand; "
                    "then run it again, and all are written anew.",
                ) from None
        return known != wanted

    def _make(self) -> None:
        """Create the gradebook atomically: nbgrader cannot use one that is half made."""
        if self.file.exists():
            return
        coming = self.file.with_name(f".new-{self.file.name}")
        try:
            _clear(coming)
            with self._open(coming):
                pass
            os.replace(coming, self.file)
        except OSError as error:
            raise unwritten(self.file, error) from None
        finally:
            _clear(coming)

    def grade(self, student: str) -> str:
        """As in "4 of 6", what was graded by hand included; empty if there is none."""
        with self._open() as book, suppress(MissingEntry):
            submission = book.find_submission(self.lab, student)
            return f"{submission.score:g} of {submission.max_score:g}"
        return ""

    def scores(self, students: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Points and maximum of each student's submission, as ``nbgrader export`` has them: what was graded by hand
        counts, and what being late costs. Whoever has no grade is left out."""
        found = {}
        with self._open() as book:
            for student in students:
                with suppress(MissingEntry):
                    one = book.find_submission(self.lab, student)
                    found[student] = (max(0.0, one.score - (one.late_submission_penalty or 0.0)), one.max_score)
        return found

    def due(self, students: Sequence[str]) -> dict[str, datetime]:
        """When each student's submission is due, extensions included; empty if the gradebook has no date."""
        found = {}
        with self._open() as book:
            for student in students:
                with suppress(MissingEntry):
                    due = book.find_assignment(self.lab).duedate
                    with suppress(MissingEntry):
                        due = book.find_submission(self.lab, student).duedate
                    found[student] = due
        return {student: due for student, due in found.items() if due}

    def forget(self, student: str) -> None:
        """Delete the grade of an earlier submission: the last one cannot be read, and no grade is no zero."""
        with self._open() as book, suppress(MissingEntry):
            book.remove_submission(self.lab, student)
        shutil.rmtree(self._autograded(student), ignore_errors=True)

    def write(self, result: Result, receipt: Mapping[str, str]) -> None:
        """A submission's grades; and the graded notebook where nbgrader would have put it, with what nbgrader has noted
        of the handing in, by file name."""
        assert result.notebook is not None
        timestamp = receipt.get(TIMESTAMP, "")
        with self._open() as book:
            book.update_or_create_student(result.student)
            when = {"timestamp": parse_utc(timestamp)} if timestamp else {}
            book.update_or_create_submission(self.lab, result.student, **when)
        nb = self._with_scores(result)
        for step in (SaveAutoGrades, AssignLatePenalties):
            nb = self._step(step(), nb, result.student)
        folder = self._autograded(result.student)
        write_atomically(folder / submissions.NAME, submissions.text_of(nb))
        for name in (TIMESTAMP, SECRET):
            if name in receipt:
                write_atomically(folder / name, receipt[name])  # nbgrader's own are read-only
            else:
                (folder / name).unlink(missing_ok=True)

    def _autograded(self, student: str) -> Path:
        return self.root / "grading" / "autograded" / student / self.lab

    def _with_scores(self, result: Result) -> Notebook:
        """The notebook with each score under its tests cell, where a kernel would have put it."""
        nb = deepcopy(result.notebook) or {}
        for cell in nb["cells"]:
            name = submissions.grade_id(cell).removeprefix("tests-")
            if name in result.exercises and submissions.grade_id(cell).startswith("tests-"):
                judged = result.exercises[name]
                shown = {"text/plain": f"{judged.score['points']:g}", "text/html": judged.html}
                cell["execution_count"] = 1
                cell["outputs"] = [
                    {"output_type": "execute_result", "execution_count": 1, "data": shown, "metadata": {}}
                ]
        return nb

    def _step(self, step: NbGraderPreprocessor, nb: Notebook, student: str) -> Notebook:
        """One of nbgrader's own, which opens the gradebook by itself."""
        told = {"notebook": NOTEBOOK, "assignment": self.lab, "student": student, "db_url": _url(self.file)}
        with _in_one_sentence(self.file):
            done, _ = step.preprocess(nbformat.from_dict(nb), {"nbgrader": told})  # type: ignore[no-untyped-call]
        return dict(done)

    @contextmanager
    def _open(self, file: Path | None = None) -> Iterator[Any]:
        with _in_one_sentence(self.file), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of SQLAlchemy, about how nbgrader uses it
            with Gradebook(_url(file or self.file), COURSE) as book:
                yield book


def _clear(file: Path) -> None:
    """Delete a database file of SQLite's, and the journal files that accompany it while it is written."""
    for left in file.parent.glob(f"{file.name}*"):
        with suppress(OSError):
            left.unlink()


def _url(file: Path) -> str:
    return f"sqlite:///{file}?timeout=60"


@contextmanager
def _in_one_sentence(file: Path) -> Iterator[None]:
    """What nbgrader and its libraries raise, as Unwritten; what they would print of it is not shown."""
    logs = [logging.getLogger(name) for name in LOGS]
    before = [log.disabled for log in logs]
    for log in logs:
        log.disabled = True
    try:
        yield
    except (SQLAlchemyError, ValueError, OSError, subprocess.SubprocessError) as error:
        if isinstance(error, OSError):
            raise unwritten(file, error) from None
        raise Unwritten(*_told(file, error)) from None
    finally:
        for log, was in zip(logs, before, strict=True):
            log.disabled = was


def _told(file: Path, error: BaseException) -> tuple[str, str]:
    """By SQLite's own error, where one is behind it: nbgrader raises its own instead."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, sqlite3.Error):
        cause = getattr(cause, "orig", None) or cause.__cause__ or cause.__context__
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    said = (str(cause or error).strip() or type(error).__name__).splitlines()[0]
    why, remedy = TELLING.get(code, (said, "Nothing is lost: run it again when that is mended."))
    return f"{file} could not be written: {why}.", remedy
