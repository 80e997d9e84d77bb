"""Notebooks a minute: ``lockstep grade`` against ``nbgrader autograde``, on the same submissions, one after the other.

Each is one command, from nothing to a gradebook with all scores: its time includes starting Python, importing torch and
creating the gradebook. The submissions are the course's solution of lab 00, the cheapest one, to which both must give
the same points. nbgrader starts a kernel for each notebook, which imports torch, and so does otter-grader, where it is
installed; ``lockstep grade`` loads it once for each judge, and forks. It also judges two at a time where there are
two cores, which the others do not do: the row with one judge shows how much that matters. nbgrader's
``generate_assignment``, which comes before, is not counted, nor its ``generate_feedback``, which comes after;
``lockstep grade`` does both in its time.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lockstep.bench import otter_grader
from lockstep.bench.launch import PROGRAMS
from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.distribution import install
from lockstep.errors import UsageError, WorldUnavailable

FIRST = "00_why_parallel"
LABS: Mapping[Size, Sequence[str]] = {
    "quick": [FIRST],
    "normal": [FIRST],
    "full": [FIRST, "04_communication", "07_horovod", "09_pipeline"],
}
STUDENTS: Mapping[Size, int] = {"quick": 1, "normal": 6, "full": 30}
LIMIT = 3600.0  # seconds for a command
CLONE = PROGRAMS.parents[3]  # where this Lockstep was cloned
NBGRADER = "nbgrader autograde"
POINTS = """
    select a.student_id, sum(g.auto_score) from grade g
    join submitted_notebook n on g.notebook_id = n.id join submitted_assignment a on n.assignment_id = a.id
    group by a.student_id order by a.student_id
"""
Points = Sequence[tuple[str, float]]


def tables(size: Size) -> list[Table]:
    return [measured(lab, STUDENTS[size]) for lab in LABS[size]]


def measured(lab: str, number: int) -> Table:
    cores = os.cpu_count() or 1
    jobs = sorted({1, min(2, cores, number)})
    seconds, points = {}, {}
    with tempfile.TemporaryDirectory(prefix="lockstep-grade-") as folder:
        course = made(Path(folder) / "by-nbgrader", lab, number)
        command(course, "nbgrader", "generate_assignment", lab, "--force")
        seconds[NBGRADER], points[NBGRADER] = graded(course, "nbgrader", "autograde", lab)
        if otter_grader.is_installed():
            files = sorted(course.glob(f"grading/submitted/*/{lab}/lab.ipynb"))
            topic = lab.partition("_")[2]
            seconds[otter_grader.NAME], points[otter_grader.NAME] = otter_grader.graded(
                Path(folder) / "by-otter", files, topic, command
            )
        for n in jobs:
            course = made(Path(folder) / f"by-{n}", lab, number)
            name = f"lockstep grade --jobs {n}"
            seconds[name], points[name] = graded(course, "lockstep", "grade", lab, "--jobs", str(n))
    for name, found in points.items():
        if found != points[NBGRADER] or len(found) != number:
            raise WorldUnavailable(f"{name} did not come to the points of {NBGRADER}: {found} {points[NBGRADER]}.")
    notes = [
        f"{number} submissions of lab {lab[:2]}, a new gradebook each; all got the same points in each of them.",
        "Starting is in the time, also that of torch: it is the larger part for few notebooks.",
    ]
    if otter_grader.is_installed():
        notes.append("otter run is one command for each notebook; its tests ask the same checks.")
    else:
        notes.append(f"otter-grader is not installed ({install('bench')}): it was not measured.")
    rows = [row(name, number, took, seconds[NBGRADER]) for name, took in seconds.items()]
    return Table(f"grade: {number} notebooks of {lab}", rows, notes)


def row(name: str, number: int, seconds: float, nbgraders: float) -> Row:
    return {
        "graded by": name,
        "wall [s]": seconds,
        "notebooks a minute": 60 * number / seconds,
        "ratio to nbgrader": nbgraders / seconds,
    }


def made(course: Path, lab: str, number: int) -> Path:
    """A course of one lab, with so many submissions, all of them right."""
    if not (CLONE / "solutions" / lab).is_dir():
        raise UsageError("The submissions are the course's solutions, which only a clone of it has.", "Clone it.")
    (course / "course").mkdir(parents=True)
    shutil.copy(CLONE / "nbgrader_config.py", course)
    for part in ("solutions", "labs"):
        shutil.copytree(CLONE / part / lab, course / part / lab)
    for student in range(number):
        shutil.copytree(CLONE / "solutions" / lab, course / "grading" / "submitted" / f"student{student:02d}" / lab)
    return course


def graded(course: Path, *what: str) -> tuple[float, Points]:
    """The seconds that it took, and what the gradebook says then."""
    began = time.monotonic()
    command(course, *what)
    seconds = time.monotonic() - began
    with sqlite3.connect(course / "grading" / "gradebook.db") as book:
        return seconds, list(book.execute(POINTS))


def command(course: Path, *what: str) -> None:
    own = course.parent / "home"
    folders = ("LOCKSTEP_HOME", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR")
    path = os.pathsep.join(filter(None, [str(PROGRAMS.parents[2]), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {name: str(own / name) for name in folders} | {"PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-m", *what], cwd=course, env=environment, capture_output=True, text=True, timeout=LIMIT,
        check=False,
    )  # fmt: skip
    if done.returncode:
        said = (done.stderr.strip() or "it told nothing").splitlines()[-1]
        raise WorldUnavailable(f"{' '.join(what[:2])} failed on this machine: {said}")
