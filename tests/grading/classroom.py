"""A teacher and some students, and the real nbgrader between them, all in folders of a test."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

import nbformat
from nbgrader.api import Gradebook

import lockstep

PACKAGE = Path(next(iter(lockstep.__path__))).parent


class Classroom:
    """``root`` is the teacher's copy of the course; students live beside it and know the exchange only."""

    def __init__(self, root: Path, lab: str, beside: Path) -> None:
        self.root, self.lab, self.beside = root, lab, beside
        self.exchange = beside / "exchange"
        self.exchange.mkdir(parents=True)

    def teacher(self, *command: str) -> str:
        """An nbgrader command in the course's folder, as the handbook has it."""
        return self._nbgrader(self.root, "teacher", *command)

    def student(self, name: str, *command: str) -> str:
        """The same in a student's folder, which has no configuration file."""
        options = ("--course", "lockstep", f"--Exchange.root={self.exchange}")
        return self._nbgrader(self.home(name), name, *command, *options)

    def in_copy(self, name: str, *command: str) -> str:
        """The same in a student's working folder, which `lockstep lab` has made: no option is needed."""
        return self._nbgrader(self.home(name), name, *command)

    def home(self, name: str) -> Path:
        folder = self.beside / name
        folder.mkdir(exist_ok=True)
        return folder

    def _nbgrader(self, folder: Path, person: str, *command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *command],
            cwd=folder, env=self._environment(person), capture_output=True, text=True, timeout=800,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def _environment(self, person: str) -> dict[str, str]:
        mine = self.beside / f"{person}-settings"
        folders = {name: str(mine / name) for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR")}
        ours = {"LOCKSTEP_HOME": str(mine / "lockstep"), "NBGRADER_EXCHANGE": str(self.exchange)}
        path = {"PYTHONPATH": os.pathsep.join([str(self.root), str(PACKAGE)])}
        outer = {k: v for k, v in os.environ.items() if k != "LOCKSTEP_SEED"}
        return outer | folders | ours | path

    def answer(self, name: str, answers: Mapping[str, str]) -> None:
        """Put these sources into the student's copy of the lab, by cell id."""
        home = self.home(name)
        path = (home / "labs" if (home / "labs").is_dir() else home) / self.lab / "lab.ipynb"
        nb = nbformat.read(path, as_version=4)
        cells = {cell.id: cell for cell in nb.cells}
        assert answers.keys() <= cells.keys()
        for cell_id, source in answers.items():
            cells[cell_id].source = source
        nbformat.write(nb, path)

    def term(self, submissions: Mapping[str, Mapping[str, str]]) -> None:
        """From release to grades: each student fetches the lab, answers as in ``submissions`` and hands it in."""
        self.teacher("release_assignment", self.lab)
        first = next(iter(submissions))
        assert self.lab in self.student(first, "list")
        self.student(first, "fetch_assignment", self.lab)
        for name in submissions:
            if name != first:
                shutil.copytree(self.home(first) / self.lab, self.home(name) / self.lab)
        for name, answers in submissions.items():
            self.answer(name, answers)
            self.student(name, "submit", self.lab, "--student", name)
        self.teacher("collect", self.lab)
        self.teacher("autograde", self.lab)
        self.teacher("generate_feedback", self.lab)
        self.teacher("export", "--to=grades.csv")

    def exported(self) -> dict[str, float]:
        """Each student's score in the CSV for the LMS."""
        with open(self.root / "grades.csv", encoding="utf-8") as file:
            return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}

    def points(self, name: str) -> dict[str, float]:
        """The student's points by exercise, from the gradebook."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        with patch.dict(os.environ, PATH=path), Gradebook(f"sqlite:///{self.root}/grading/gradebook.db") as gradebook:
            grades = gradebook.find_submission(self.lab, name).notebooks[0].grades
            return {grade.cell.name.removeprefix("tests-"): grade.score for grade in grades}

    def feedback(self, name: str) -> str:
        return (self.root / "grading" / "feedback" / name / self.lab / "lab.html").read_text(encoding="utf-8")
