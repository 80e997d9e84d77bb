"""The one writer to nbgrader's gradebook: what ``nbgrader export`` and its formgrader then see.

nbgrader's own steps save the grades, from the numbers that stand under the tests cells; only that these were put there
by a judge, and not by a kernel.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades, SaveCells
from nbgrader.utils import parse_utc

from lockstep.grading import submission as submissions
from lockstep.grading.class_list import TIMESTAMP, replaced
from lockstep.grading.course import search_path
from lockstep.grading.judging import Result
from lockstep.grading.submission import Notebook

COURSE = "lockstep"
NOTEBOOK = "lab"


class Book:
    """The gradebook of a course's folder, for one lab."""

    def __init__(self, root: Path, lab: str) -> None:
        self.root, self.lab = root, lab
        self.url = f"sqlite:///{root / 'grading' / 'gradebook.db'}?timeout=60"
        os.environ["PATH"] = search_path()  # nbgrader starts alembic by its bare name

    def begin(self, release: Notebook) -> bool:
        """Know the lab, all of it, as ``nbgrader generate_assignment`` would have it. Whether it was new."""
        wanted = {submissions.grade_id(c) for c in release["cells"]} - {""}
        with self._open() as book:
            try:
                known = {cell.name for cell in book.find_notebook(NOTEBOOK, self.lab).source_cells}
            except MissingEntry:
                known = set()
                book.update_or_create_assignment(self.lab)
        if known != wanted:
            SaveCells().preprocess(nbformat.from_dict(release), self._resources(""))  # type: ignore[no-untyped-call]
        return known != wanted

    def forget(self, student: str) -> None:
        """That it has a grade, from what was handed in before: the last one cannot be read, and no grade is no zero."""
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
        nb = nbformat.from_dict(self._with_scores(result))  # type: ignore[no-untyped-call]
        resources = self._resources(result.student)
        for step in (SaveAutoGrades, AssignLatePenalties):
            nb, resources = step().preprocess(nb, resources)
        folder = self._autograded(result.student)
        folder.mkdir(parents=True, exist_ok=True)
        submissions.write(folder / submissions.NAME, nb)
        for name, text in receipt.items():
            replaced(folder / name, text)  # nbgrader's own are read-only

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

    def _resources(self, student: str) -> dict[str, Any]:
        told = {"notebook": NOTEBOOK, "assignment": self.lab, "student": student, "db_url": self.url}
        return {"nbgrader": told}

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of SQLAlchemy, about how nbgrader uses it
            with Gradebook(self.url, COURSE) as book:
                yield book
