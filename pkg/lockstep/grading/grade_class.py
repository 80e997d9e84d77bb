"""``lockstep grade``: a class's submissions to a lab, several at a time, and one writer for what comes of them.

::

    grading/submitted/STUDENT/LAB ──▶ judges, each with a sandbox ──▶ grader ──▶ grading/results    kept, to go on with
                                                                             ├─▶ gradebook.db, autograded
                                                                             ├─▶ feedback/STUDENT/LAB/lab.html
                                                                             └─▶ LAB.csv
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from lockstep.checks.seeds import secret_of_grader
from lockstep.errors import UsageError
from lockstep.grading import grade_submission
from lockstep.grading import submission as submissions
from lockstep.grading.atomic_write import Unwritten, unwritten
from lockstep.grading.class_list import ClassList
from lockstep.grading.course import root, units_of
from lockstep.grading.feedback import counted
from lockstep.grading.grade_submission import Result, Task, names_of
from lockstep.grading.gradebook import Book
from lockstep.grading.plain_lab import plain_of
from lockstep.grading.result_writer import ResultWriter
from lockstep.grading.sandbox import FORK
from lockstep.grading.submission import NOT_GRADED, Notebook
from lockstep.grading.temporary_folder import temporary_folder
from lockstep.progress import home

PATIENCE = 600.0  # seconds for one exercise, after which its judge is ended
PRIVATE = ("grading", "solutions", "labs", "course", "exchange", "my-course")  # folders of a course


@dataclass(frozen=True)
class Options:
    jobs: int = 1
    students: Sequence[str] = ()  # all, if none is named
    again: bool = False  # also those that have a result
    own_seeds: bool = False  # a secret seed for each student
    sandbox: str = FORK  # its kind; empty for none


@dataclass
class Desk:
    """A running judge, as the grader sees it: its process, and the exercise that it is working on."""

    pid: int
    conn: Connection
    student: str = ""
    exercise: str = ""
    since: float = field(default_factory=time.monotonic)


class Grader:
    """Grades one lab of the course at ``at``."""

    def __init__(self, lab: str, options: Options, at: Path | None = None) -> None:
        self.root, self.options = at or root(), options
        self.lab = lab
        self.topic = _topic(self.root, lab)
        self.release: Notebook = _lab(self.root / "labs" / lab / submissions.NAME)
        self.secret = secret_of_grader()
        kind = f"{self.secret}/{'own' if options.own_seeds else 'one'}/{'sandbox' if options.sandbox else 'unsafe'}"
        self.class_list = ClassList(self.root, lab, kind + _digest_of_plain(self.root / "course" / lab))
        self.unwritten: Mapping[str, Unwritten] = {}  # what a run could not write down, and why, by student
        self.untold: Unwritten | None = None  # why there is no new table
        self.late: Mapping[str, str] = {}  # by how many hours, by student

    def run(self, tell: Callable[[Result, int, int, float], None]) -> dict[str, Result]:
        """Every student's result. ``tell(result, done, of, seconds left)`` for each that is graded now."""
        results = {s: r for s in self.class_list.students() if (r := self.class_list.result(s))}
        todo = self._todo(results)
        with self._alone(), temporary_folder() as own, self._desks(deque(todo), own) as judged:
            book = Book(self.root, self.lab)
            writer = ResultWriter(self.class_list, book)
            self.unwritten = writer.unwritten
            is_new = book.begin(self.release)
            for student in sorted(set(results) - set(todo)):
                if is_new or not self.class_list.is_written(student):  # a grader was killed before it had
                    results[student] = writer.write(results[student], kept=True)
            began = time.monotonic()
            for done, result in enumerate(judged, 1):
                results[result.student] = result = writer.write(result)
                left = (time.monotonic() - began) / done * (len(todo) - done)
                tell(result, done, len(todo), left)
            writer.write_what_is_held()
            self._write_table(results, book)
        return results

    def _write_table(self, results: Mapping[str, Result], book: Book) -> None:
        try:
            self.late = self.class_list.late(sorted(results), book.due(sorted(results)))
            self.class_list.write_table(results, names_of(self.release), counted(self.release), self.late)
        except Unwritten as error:
            self.untold = error

    def _todo(self, known: dict[str, Result]) -> list[str]:
        there = self.class_list.students()
        for name in self.options.students:
            if name not in there:
                raise UsageError(f"{name} has not handed in {self.lab}.", f"Look into {self.class_list.submitted}.")
        if self.options.students:
            return list(self.options.students)
        if not there:
            raise UsageError(
                f"Nobody has handed in {self.lab}: there is none in {self.class_list.submitted}.",
                f"They are collected by `nbgrader collect {self.lab}`.",
            )
        return [s for s in there if self.options.again or s not in known]

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        file = self.root / "grading" / ".grading"
        try:
            file.parent.mkdir(exist_ok=True)
            opened = file.open("a")
        except OSError as error:
            raise unwritten(file, error) from None
        with opened as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError("Another grader is at work in this course.", "Wait for it, or stop it.") from None
            yield

    def solved(self) -> Notebook | None:
        """The lab as the course solves it, where that is here."""
        try:
            return _lab(self.root / "solutions" / self.lab / submissions.NAME)
        except UsageError:
            return None

    # ---- judges

    @contextlib.contextmanager
    def _desks(self, todo: deque[str], own: Path) -> Iterator[Iterator[Result]]:
        """The results, as they come. The judges start at once, and work while the gradebook is opened."""
        desks = [_desk(own) for _ in range(min(self.options.jobs, len(todo)))]
        try:
            self._give_all(desks, todo)
            yield self._judged(desks, todo, own)
        finally:
            for desk in desks:
                _end(desk)

    def _judged(self, desks: list[Desk], todo: deque[str], own: Path) -> Iterator[Result]:
        while any(desk.student for desk in desks):
            wait([desk.conn for desk in desks if desk.student], 1.0)
            heard = [result for desk in desks if (result := self._heard(desk))]
            for number, desk in enumerate(desks):
                if desk.pid == 0:
                    desks[number] = _desk(own)
            self._give_all(desks, todo)  # first: who judges need not wait until the gradebook is written
            yield from heard

    def _give_all(self, desks: list[Desk], todo: deque[str]) -> None:
        for desk in desks:
            if todo and not desk.student:
                self._give(desk, todo.popleft())

    def _give(self, desk: Desk, student: str) -> None:
        desk.student, desk.exercise, desk.since = student, "", time.monotonic()
        private = (*(str(self.root / name) for name in PRIVATE), str(home()))
        folder, options = self.class_list.folder(student), self.options
        task = Task(student, folder, self.release, self.topic, self.secret, options.own_seeds, private, options.sandbox)
        desk.conn.send(task)

    def _heard(self, desk: Desk) -> Result | None:
        """The result of a judge that has sent it, or that has died."""
        try:
            while desk.student and desk.conn.poll():
                kind, told = desk.conn.recv()
                desk.since = time.monotonic()
                if kind == "exercise":
                    desk.exercise = told
                    continue
                desk.student = ""
                return Result(**vars(told))
        except (EOFError, OSError):
            return self._gone(desk, "whoever judged it has ended")
        if desk.student and time.monotonic() - desk.since > PATIENCE:
            return self._gone(desk, f"it took longer than {PATIENCE:.0f} seconds")
        return None

    @staticmethod
    def _gone(desk: Desk, why: str) -> Result:
        student, exercise = desk.student, desk.exercise or "the notebook"
        _end(desk)
        desk.student, desk.pid = "", 0
        return Result(student, NOT_GRADED, [f"{exercise} could not be graded: {why}."])


def _desk(own: Path) -> Desk:
    return Desk(*grade_submission.start(os.getpid(), own))


def _end(desk: Desk) -> None:
    desk.conn.close()
    if desk.pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(desk.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(desk.pid, 0)


def _topic(root: Path, lab: str) -> str:
    found = [unit for unit in units_of(root) if unit.folder == lab]
    if not found:
        raise UsageError(f"There is no lab {lab!r}.", "A lab is named as its folder in labs/: 04_communication.")
    return found[0].topic


def _digest_of_plain(folder: Path) -> str:
    """Of the plain exercises of a unit: with others a submission is graded once more."""
    texts = "".join(file.text for file in plain_of(folder))
    return f"/{hashlib.sha256(texts.encode()).hexdigest()}" if texts else ""


def _lab(file: Path) -> Notebook:
    """A lab as it was built, released or solved."""
    import nbformat
    from nbgrader.nbgraderformat import MetadataValidator

    try:
        lab: Notebook = json.loads(file.read_text(encoding="utf-8"))
        built = nbformat.from_dict(lab)  # type: ignore[no-untyped-call]
        nbformat.validate(built)
        MetadataValidator().validate_nb(built)
        return submissions.whole(lab)
    except Exception:  # of three libraries, on what may be anything
        raise UsageError(f"{file} is no lab as `lockstep build` makes it.", "Have it built anew.") from None
