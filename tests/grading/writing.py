"""Results as judges give them, without judges; and a disk that fills."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook

from lockstep.grading.class_list import SECRET, TIMESTAMP, ClassList
from lockstep.grading.course import root
from lockstep.grading.grade_submission import Judged, Result, names_of
from lockstep.grading.gradebook import Book
from lockstep.grading.result_writer import ResultWriter
from lockstep.grading.submission import GRADED, WRONG_FORMAT, Notebook, read, whole

LAB = "00_why_parallel"
WHEN = "2026-11-26 07:00:00.000000 UTC"


class Desk:
    """A writer in the course's folder ``at``, and who has handed in there."""

    def __init__(self, at: Path) -> None:
        self.at = at
        at.joinpath("grading").mkdir(exist_ok=True)
        self.release: Notebook = whole(json.loads((root() / "labs" / LAB / "lab.ipynb").read_text()))
        self.class_list = ClassList(at, LAB, "secret")
        self.book = Book(at, LAB)
        self.writer = ResultWriter(self.class_list, self.book)

    def hand_in(self, student: str, text: str = "", receipts: Mapping[str, str] | None = None) -> Path:
        folder = self.class_list.folder(student)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "lab.ipynb").write_text(text or json.dumps(self.release))
        for name, told in ({TIMESTAMP: WHEN, SECRET: f"secret{student}"} if receipts is None else receipts).items():
            (folder / name).write_text(told)
        return folder

    def graded(self, student: str, points: float = 1.0, html: str = "") -> Result:
        """A result of what ``student`` has handed in: so many points in each exercise."""
        found = read(self.class_list.folder(student), self.release)
        if found.notebook is None:
            return Result(student, WRONG_FORMAT, list(found.notes))
        score = {"points": points, "maximum": 2.0, "verdict": "wrong", "findings": []}
        judged = {name: Judged(score, html) for name in names_of(self.release)}
        return Result(student, GRADED, (), found.notebook, judged)

    def grades(self) -> dict[str, float]:
        with Gradebook(f"sqlite:///{self.book.file}", "lockstep") as book:
            return {s.student.id: s.score for s in book.assignment_submissions(LAB)}

    def set_due(self, when: datetime) -> None:
        with Gradebook(f"sqlite:///{self.book.file}", "lockstep") as book:
            book.update_or_create_assignment(LAB, duedate=when)

    def give_longer(self, student: str, days: int) -> None:
        with Gradebook(f"sqlite:///{self.book.file}", "lockstep") as book:
            book.grant_extension(LAB, student, days=days)


class Disk:
    """A real one, in memory, at ``at``. Raises OSError where this user may mount none."""

    def __init__(self, at: Path, size: str) -> None:
        self.at = at
        self._mount(size)

    def _mount(self, size: str, *more: str) -> None:
        options = ",".join([f"size={size}", *more])
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "none", str(self.at)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise OSError(done.stderr.strip())

    def resize(self, size: str) -> None:
        self._mount(size, "remount")

    def unmount(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.at)], check=True)
