"""Notebooks of the course, run as a learner's kernel runs them."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from classroom import PACKAGE
from kernels import settings
from nbclient import NotebookClient
from nbformat.v4 import new_notebook
from nbgrader.utils import determine_grade, is_grade

RESET = "%reset -f\n__spec__ = None"  # %reset takes it away, and multiprocessing asks for it


def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a learner's kernel, as a fixture: this package, and a home without any progress."""
    path = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    monkeypatch.delenv("LOCKSTEP_SEED", raising=False)
    return tmp_path


def executed(path: Path):
    """Run All, which stops at errors."""
    return execute(nbformat.read(path, as_version=4), path.parent, stop_at_errors=True)


def execute(nb, folder: Path, stop_at_errors: bool):
    client(nb, folder, stop_at_errors).execute()
    return nb


def client(nb, folder: Path, stop_at_errors: bool) -> NotebookClient:
    where = {"metadata": {"path": str(folder)}}
    return NotebookClient(
        nb, timeout=280, kernel_name="python3", allow_errors=not stop_at_errors, resources=where, config=settings()
    )


def go_on(kernel: NotebookClient, cells, stop_at_errors: bool):
    """Run these cells, too, in a kernel that has run others."""
    kernel.nb, kernel.allow_errors = new_notebook(cells=cells), not stop_at_errors
    for index, cell in enumerate(cells):
        kernel.execute_cell(cell, index)
    return cells


def points(cells) -> dict[str, tuple[float, float]]:
    """What nbgrader would give for each tests cell, and the most that it could."""
    return {c.metadata.nbgrader.grade_id: determine_grade(c) for c in cells if is_grade(c)}


def errors(cells) -> list[str]:
    return [o.evalue for c in cells if c.cell_type == "code" for o in c.outputs if o.output_type == "error"]
