"""A class of students, some of them hostile, and its grading."""

from __future__ import annotations

import csv
import json
import re
import shutil
import socket
import sqlite3
from pathlib import Path

import psutil

import lockstep
from lockstep.grading.course import root
from lockstep.grading.grade_class import Grader, Options
from lockstep.grading.sandbox import FORK

FILES = {p.stem: p.read_text() for p in sorted((Path(__file__).parent / "submissions").glob("*.py"))}
LABS = {"amdahl": "00_why_parallel", "tree_broadcast": "04_communication"}
BESIDE = {"00_why_parallel": "training_days"}  # the exercise that everyone answers rightly
RIGHT = ("ada", "zoe")


def expected(text: str, key: str, default: str) -> str:
    found = re.search(rf"^# {key}: (.+)$", text, re.MULTILINE)
    return found[1] if found else default


def exercise_of(name: str) -> str:
    return expected(FILES[name], "exercise", "amdahl")


class Class:
    """A course of one small lab, whose submissions are graded together."""

    def __init__(self, folder: Path, lab: str, names: list[str], kind: str = FORK, grade: bool = True) -> None:
        self.course, self.lab, self.names, self.kind = folder / "course", lab, names, kind
        self.exercises = [e for e in (BESIDE.get(lab), *(e for e, of in LABS.items() if of == lab)) if e]
        self.course.joinpath("course").mkdir(parents=True)
        shutil.copy(root() / "nbgrader_config.py", self.course)
        self.solved = self._few("solutions")
        self._few("labs")
        for student in RIGHT:
            self._hand_in(student, self.solved)
        self.before = {p.pid for p in psutil.Process().children()}
        with socket.socket() as service:
            service.bind(("127.0.0.1", 0))
            service.listen()
            words = {
                "course": str(self.course), "home": str(Path.home()), "outside": str(folder),
                "package": str(Path(next(iter(lockstep.__path__)))), "port": str(service.getsockname()[1]),
            }  # fmt: skip
            for name in names:
                self._hand_in_hostile(name, words)
            self.results = self.grade() if grade else {}

    def grade(self, **options):
        return Grader(self.lab, Options(jobs=2, sandbox=self.kind, **options), self.course).run(lambda *told: None)

    def _few(self, kind: str) -> dict:
        """The lab with these exercises alone, written into the course."""
        nb = json.loads((root() / kind / self.lab / "lab.ipynb").read_text())
        wanted = {f"{part}-{e}" for part in ("answer", "tests", "readonly-about") for e in self.exercises}
        nb["cells"] = [c for c in nb["cells"] if c["id"] in {*wanted, "readonly-title", "readonly-imports"}]
        folder = self.course / kind / self.lab
        folder.mkdir(parents=True)
        (folder / "lab.ipynb").write_text(json.dumps(nb))
        return nb

    def folder(self, student: str) -> Path:
        return self.course / "grading" / "submitted" / student / self.lab

    def _hand_in(self, student: str, notebook: dict) -> None:
        self.folder(student).mkdir(parents=True)
        (self.folder(student) / "lab.ipynb").write_text(json.dumps(notebook))

    def _hand_in_hostile(self, name: str, words: dict[str, str]) -> None:
        notebook = json.loads(json.dumps(self.solved))
        if "def hand_in(" in FILES[name]:
            space: dict = {}
            exec(FILES[name], space)
            self.folder(name).mkdir(parents=True)
            space["hand_in"](notebook, self.folder(name))
            return
        text = FILES[name]
        for word, value in words.items():
            text = text.replace(f"{{{word}}}", value)
        for cell in notebook["cells"]:
            if cell["id"] == f"answer-{exercise_of(name)}":
                cell["source"] = text
        self._hand_in(name, notebook)

    def feedback(self, student: str) -> str:
        return (self.course / "grading" / "feedback" / student / self.lab / "lab.html").read_text()

    def table(self) -> dict[str, dict[str, str]]:
        with (self.course / "grading" / f"{self.lab}.csv").open() as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def book(self) -> list[tuple]:
        """All that the gradebook says of people: no ids, which are drawn at random."""
        query = """
            select s.student_id, a.name, n.name, c.name, g.auto_score, g.manual_score, g.needs_manual_grade, s.timestamp
            from grade g join base_cell c on g.cell_id = c.id join submitted_notebook m on g.notebook_id = m.id
            join notebook n on m.notebook_id = n.id join submitted_assignment s on m.assignment_id = s.id
            join assignment a on s.assignment_id = a.id order by 1, 2, 3, 4
        """
        with sqlite3.connect(self.course / "grading" / "gradebook.db") as book:
            return list(book.execute(query))
