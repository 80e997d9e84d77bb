"""A judge: a process that grades one submission after the other, each answer in a sandbox of its own.

grader → judge   Task
judge → grader   ("exercise", id) as each one begins, and ("done", Result)

The judge has the seed, and runs nothing of the learner's. It is a process of its own so that it can be ended, and so
that a notebook that crashes its reader stops nobody else.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lockstep import worlds
from lockstep.checks import Score, check_file, find
from lockstep.checks.load import NoFunction, Unreadable, load
from lockstep.checks.score import page
from lockstep.checks.seeds import secret_of_student
from lockstep.checks.syntax_trees import form_of
from lockstep.checks.wording import printable
from lockstep.forking import starter
from lockstep.grading import hidden_answers
from lockstep.grading import submission as submissions
from lockstep.grading import syscalls as kernel
from lockstep.grading.atomic_write import write_atomically
from lockstep.grading.sandbox_host import Sandbox
from lockstep.grading.sandbox_view import view
from lockstep.grading.submission import CRASHED, GRADED, NOT_GRADED, TAMPERED, TIMED_OUT, Notebook
from lockstep.grading.suspicious_code import executed, note, reaches
from lockstep.grading.viva_questions import questions

KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONPATH", "LOCKSTEP_START")  # what a judge knows of its grader
DEAF = "deaf-book"
OUT_OF_TIME = ("too-slow", "crashed:TimeLimit", "crashed:Stuck")


@dataclass(frozen=True)
class Task:
    student: str
    folder: Path  # with what was handed in
    release: Notebook
    topic: str
    secret: str
    own_seed: bool  # of the student
    private: tuple[str, ...]  # folders that no sandbox shows
    sandbox: str  # its kind; empty for none


@dataclass(frozen=True)
class Judged:
    """One exercise. ``score``: as `Score.to_json`; ``html``: its feedback; ``ended``: why its sandboxes ended, if they
    did so by themselves; ``questions``: what its author can be asked about its run; ``form``: of the answer, as
    `Form.to_json`, by which it is compared with others'; ``reaches``: what its text uses that no answer needs."""

    score: Mapping[str, Any]
    html: str
    ended: Sequence[str] = ()
    questions: Sequence[Mapping[str, str]] = ()
    form: Mapping[str, Any] = field(default_factory=dict)
    reaches: Sequence[str] = ()


@dataclass(frozen=True)
class Result:
    """The result of a submission: plain data, kept as JSON."""

    student: str
    status: str
    notes: Sequence[str] = ()
    notebook: Notebook | None = None
    exercises: Mapping[str, Judged] = field(default_factory=dict)
    taken_back: str = ""  # the grade of an earlier hand-in, "4 of 6", which this one has cost

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        judged = {name: Judged(**one) for name, one in data["exercises"].items()}
        told = (data["student"], data["status"], data["notes"], data["notebook"])
        return cls(*told, judged, data.get("taken_back", ""))

    @property
    def final(self) -> bool:
        """Whether it is a grade that may be written; a submission that could not be graded is for another run."""
        return self.status != NOT_GRADED


def main(conn: Connection, grader: int, own: Path) -> None:
    """The main loop of a judge, in a fork of the grader: a task in, a result out. Its files go into ``own``."""
    kernel.prctl(kernel.PDEATHSIG, signal.SIGKILL)
    if os.getppid() != grader:
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setsid()
    known = {name: os.environ[name] for name in KEPT if name in os.environ}
    os.environ.clear()
    os.environ.update(known, HOME="/tmp", TMPDIR=str(own))
    tempfile.tempdir = str(own)
    starter.begin()
    while True:
        try:
            task: Task = conn.recv()
        except EOFError:
            return
        try:
            result = graded(task, lambda id: conn.send(("exercise", id)))
        except Exception as error:  # of ours: this one is for another run, and the others go on
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            result = Result(task.student, NOT_GRADED, [printable(f"Whoever judged it has failed: {why}.")])
        conn.send(("done", result))


def names_of(release: Notebook) -> list[str]:
    """The exercises of a lab, core and extra, in their order."""
    ids = [submissions.grade_id(c) for c in release["cells"]]
    return [id.removeprefix("tests-") for id in ids if id.startswith("tests-")]


def graded(task: Task, begins: Callable[[str], None] = lambda id: None) -> Result:
    """Grade a submission: read it, check each answer, and sum up its status."""
    handed_in = submissions.read(task.folder, task.release)
    if handed_in.notebook is None:
        return Result(task.student, handed_in.status, list(handed_in.notes))
    secret = secret_of_student(task.secret, task.student) if task.own_seed else task.secret
    os.environ["LOCKSTEP_SEED"] = secret  # no process that a check starts is given it
    judged: dict[str, Judged] = {}
    with tempfile.TemporaryDirectory(prefix="lockstep-") as own:
        file = Path(own) / submissions.NAME
        write_atomically(file, submissions.text_of(handed_in.notebook))
        for name in names_of(task.release):
            begins(name)
            judged[name] = of_exercise(name, file, task)
    status, notes = _status(handed_in.status, judged)
    return Result(task.student, status, [*handed_in.notes, *notes], handed_in.notebook, judged)


def of_exercise(name: str, file: Path, task: Task) -> Judged:
    """Grade one answer of a file: its score, its syntax tree, and what in its text a teacher should look at."""
    judged = _judged(f"{task.topic}.{name}", file, task)
    return replace(judged, form=_form(file, name), reaches=_reaches(file, name))


def _judged(id: str, file: Path, task: Task) -> Judged:
    if not task.sandbox:
        return _told(check_file(id, file, keep=False, apart=True), (), task.student)
    exercise = find(id)
    with ExitStack() as stack:
        seen = view((*task.private, *hidden_answers.answers()), hidden_answers.files(exercise))
        sandbox = Sandbox(seen, task.sandbox, hidden_answers.module_of(exercise))
        stack.callback(sandbox.close)
        stack.enter_context(worlds.carried_by(sandbox.carry, sandbox.warm_up))
        return _told(check_file(id, file, keep=False, apart=True), sandbox.ended, task.student)


def _form(file: Path, function: str) -> Mapping[str, Any]:
    """Nothing, where there is no function that could be compared."""
    with suppress(NoFunction, Unreadable):
        if form := form_of(load(file, function)):
            return form.to_json()
    return {}


def _reaches(file: Path, function: str) -> list[str]:
    with suppress(NoFunction, Unreadable):
        return reaches(executed(load(file, function)))
    return []


def _told(score: Score, ended: Sequence[str], student: str) -> Judged:
    return Judged(score.to_json(), page(score), list(ended), questions(score, student))


def _status(before: str, judged: Mapping[str, Judged]) -> tuple[str, list[str]]:
    """The status, and a sentence for each exercise that is not simply right or wrong, and for each answer that somebody
    should read."""
    notes, found = [], []
    for name, one in judged.items():
        why = one.score["findings"][0] if one.score["findings"] else {"misconception": "", "message": ""}
        if one.score["verdict"] == "ungraded":
            found.append(NOT_GRADED)
            notes.append(f"{name} could not be graded: {why['message'].splitlines()[0]}")
        elif one.ended:
            found.append(CRASHED)
            notes.append(f"The sandbox of {name} {one.ended[0]}.")
        elif why["misconception"] in OUT_OF_TIME:
            found.append(TIMED_OUT)
            notes.append(f"{name} did not come to an end.")
        elif why["misconception"] == "crashed:RankDied":
            found.append(CRASHED)
            notes.append(f"{name} ended its process.")
        elif why["misconception"] == DEAF:
            notes.append(f"{name} has replaced what counts its memory.")
        if one.score["points"] and one.reaches:
            notes.append(note(name, list(one.reaches)))
    order = (NOT_GRADED, TAMPERED, CRASHED, TIMED_OUT)
    return next((s for s in order if s in (*found, before)), GRADED), notes


def start(grader: int, own: Path) -> tuple[int, Connection]:
    """A judge, forked from this process, which has one thread: its pid, and the connection to it."""
    from multiprocessing.connection import Pipe

    ours, theirs = Pipe(duplex=True)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            ours.close()
            _close_but(theirs.fileno())  # the grader's lock, or it would outlive a grader that was killed
            main(theirs, grader, own)
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    return pid, ours


def _close_but(kept: int) -> None:
    os.closerange(3, kept)
    os.closerange(kept + 1, 1 << 20)
