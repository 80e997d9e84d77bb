"""A class's results in a lab, kept in one JSON file a student, each written atomically; and the table (CSV).

A grader that was stopped goes on with those that have no result yet, or have handed in something else since. So a
second run changes nothing, and a result is there before the gradebook has it: what a killed grader left out is written
by the next.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import stat
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lockstep.checks.wording import printable
from lockstep.distribution import VERSION
from lockstep.grading.atomic_write import write_atomically
from lockstep.grading.feedback import core, sums
from lockstep.grading.grade_submission import Result
from lockstep.grading.submission import MOST, WRONG_FORMAT

TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"  # nbgrader adds them to what is handed in
RISKY = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet begins a formula
UNKNOWN = "unknown"  # of what was not handed in by nbgrader: when that was


class ClassList:
    """The students who have handed in ``lab``, and their results, in the course's folder ``root``."""

    def __init__(self, root: Path, lab: str, secret: str) -> None:
        self.root, self.lab, self.secret = root, lab, secret
        self.kept = root / "grading" / "results" / lab
        self.submitted = root / "grading" / "submitted"

    def students(self) -> list[str]:
        return [name for name in self._names() if name.isprintable()]

    def misnamed(self) -> list[str]:
        """Folders whose names no gradebook, table or terminal could take: they are not graded."""
        return [name for name in self._names() if not name.isprintable()]

    def _names(self) -> list[str]:
        folders = self.submitted.glob(f"*/{self.lab}")
        return sorted(f.parent.name for f in folders if f.is_dir() and not f.is_symlink() and f.parent.name[0] != ".")

    def folder(self, student: str) -> Path:
        return self.submitted / student / self.lab

    def timestamp(self, student: str) -> str:
        """When it was handed in, as nbgrader has noted; empty where that is no date."""
        from nbgrader.utils import parse_utc

        try:
            text = _read(self.folder(student) / TIMESTAMP, 100).decode().strip()
            parse_utc(text)
        except (OSError, ValueError, OverflowError):
            return ""
        return text

    def receipt(self, student: str) -> dict[str, str]:
        """What nbgrader has noted of the handing in, by file name: nothing, where it was handed in some other way."""
        try:
            secret = _read(self.folder(student) / SECRET, 200).decode().strip()
        except (OSError, ValueError):
            secret = ""
        found = {TIMESTAMP: self.timestamp(student), SECRET: secret if secret.isalnum() else ""}
        return {name: text for name, text in found.items() if text}

    def receipt_for_all(self, student: str) -> dict[str, str]:
        """The same with something for what is missing: for one page without it, nbgrader gives nobody any feedback.
        Under the secret that is made up nobody finds the page."""
        made_up = hashlib.sha256(f"{self.secret}/receipt/{self.lab}/{student}".encode("utf-8", "replace")).hexdigest()
        return {TIMESTAMP: "", SECRET: made_up} | self.receipt(student)

    def key(self, student: str) -> str:
        """A hash of the submission's files, the package's version and the seed."""
        digest = hashlib.sha256(f"{VERSION}/{self.secret}/{student}".encode("utf-8", "surrogateescape"))
        for file in sorted(self.folder(student).glob("*.ipynb")):
            digest.update(file.name.encode("utf-8", "surrogateescape"))
            try:
                digest.update(_read(file, MOST + 1))
            except OSError as error:
                digest.update(str(error.errno).encode())
        return digest.hexdigest()

    def result(self, student: str) -> Result | None:
        """The result of an earlier run, if submission, package and seed are still the same; else None."""
        key, found = self._kept_of(student)
        return found if key == self.key(student) else None

    def _kept_of(self, student: str) -> tuple[str, Result | None]:
        """The kept result and its key. A file that was changed or torn counts as none: it is graded again."""
        try:
            told = json.loads((self.kept / f"{student}.json").read_text(encoding="utf-8"))
            if told["digest"] == _digest(told["result"]):
                return str(told["key"]), Result.from_json(told["result"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass
        return "", None

    def taken_back(self, student: str) -> str:
        """The grade that an earlier hand-in had, where what was kept last says so."""
        _, found = self._kept_of(student)
        return found.taken_back if found else ""

    def late(self, students: Sequence[str], due: Mapping[str, datetime]) -> dict[str, str]:
        """By how many hours each is late; empty for who is not, and UNKNOWN where it has no time."""
        return {s: _hours(self.timestamp(s), due[s]) if s in due else "" for s in students}

    def feedback(self, student: str) -> Path:
        return self.root / "grading" / "feedback" / student / self.lab / "lab.html"

    def is_written(self, student: str) -> bool:
        """Whether the kept result is in the gradebook and on the learner's page, which is written last."""
        page, kept = self.feedback(student), self.kept / f"{student}.json"
        return page.exists() and page.stat().st_mtime_ns >= kept.stat().st_mtime_ns

    def keep(self, result: Result) -> None:
        found = result.to_json()
        told = {"key": self.key(result.student), "digest": _digest(found), "result": found}
        write_atomically(self.kept / f"{result.student}.json", json.dumps(told))

    def write_table(
        self, results: Mapping[str, Result], names: Sequence[str], counted: Sequence[str], late: Mapping[str, str]
    ) -> Path:
        """The CSV: one line a student. Where nothing could be graded the points are empty, and no zero. The others than
        the ``counted`` ones among the exercises ``names`` are headed as extra."""
        file = self.root / "grading" / f"{self.lab}.csv"
        titles = [name if name in counted else f"{name} (extra)" for name in names]
        lines = io.StringIO()
        table = csv.writer(lines)
        table.writerow(["student", "status", "points", "maximum", *titles, "hours late", "notes"])
        for student in sorted(results):
            table.writerow(map(_harmless, _row(results[student], names, late.get(student, ""))))
        write_atomically(file, lines.getvalue())
        return file


def _row(result: Result, names: Sequence[str], late: str) -> list[str]:
    notes = " ".join(result.notes)
    if not result.final or result.status == WRONG_FORMAT:
        return [result.student, result.status, "", "", *[""] * len(names), late, notes]
    points, maximum = sums(result)
    each = [f"{result.exercises[n].score['points']:g}" if n in result.exercises else "" for n in names]
    return [result.student, result.status, f"{points:g}", f"{maximum:g}", *each, late, notes]


def _hours(timestamp: str, due: datetime) -> str:
    from nbgrader.utils import parse_utc

    if not timestamp:
        return UNKNOWN
    seconds = (parse_utc(timestamp) - due).total_seconds()
    return f"{max(seconds / 3600, 0.01):.2f}" if seconds > 0 else ""


def told(result: Result) -> str:
    """One line for the teacher: the student, the points, the status."""
    if not result.final or not core(result):
        return f"{printable(result.student)}: {result.status}. {' '.join(map(printable, result.notes[:2]))}"
    points, maximum = sums(result)
    more = f" (And {len(result.notes) - 1} more in the table.)" if len(result.notes) > 1 else ""
    why = f". {printable(result.notes[0])}{more}" if result.notes else ""
    return f"{printable(result.student)}: {points:g} of {maximum:g}, {result.status}{why}"


def _digest(result: Any) -> str:
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()


def _harmless(text: str) -> str:
    plain = printable(text)
    return f"'{plain}" if plain.startswith(RISKY) else plain


def _read(file: Path, most: int) -> bytes:
    """The beginning of a plain file."""
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as opened:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "no file")
        return opened.read(most)
