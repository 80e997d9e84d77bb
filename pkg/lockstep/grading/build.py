"""Make the notebooks from the authors' text sources.

::

    course/index.py            →  course/index.ipynb            the front page, with the table of the units
    course/NN_topic/lesson.py  →  course/NN_topic/lesson.ipynb  to read and run
    course/NN_topic/lab.py     →  solutions/NN_topic/lab.ipynb  solved: nbgrader's source notebook
                               →  labs/NN_topic/lab.ipynb       what a student gets

The notebooks hold no outputs, and building twice changes nothing: a cell's id is its tag, or a hash of its text.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat

from lockstep.errors import LockstepError
from lockstep.grading.course import contents
from lockstep.grading.release import release
from lockstep.grading.rules import Find, Graded, lab_problems, lesson_problems
from lockstep.grading.source import Cell, Problem, read

_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
FOLDED = {"jp-MarkdownHeadingCollapsed": True}  # JupyterLab hides what is below the heading until it is opened
_ROLES = {
    "readonly": {"grade": False, "solution": False, "locked": True},
    "answer": {"grade": False, "solution": True, "locked": False},
    "tests": {"grade": True, "solution": False, "locked": True},
}


class BuildError(LockstepError):
    """One line for each thing that is wrong with a source: file, line, cell, and what to do."""


def exercise(id: str) -> Graded:
    """The exercise as ``lockstep.checks`` knows it; it is imported when there is a lab to build."""
    from lockstep.checks import find

    return find(id)


def build(root: Path, check: bool = False, find: Find = exercise) -> list[str]:
    """Bring every notebook under ``root`` up to date; the paths (relative to ``root``) of those that changed.

    With ``check`` nothing is written: the paths are those that are not what their source makes. ``find`` looks an
    exercise up by its id. Raises BuildError, before anything is written, if a
    source is wrong or if a lab holds somebody's answers.
    """
    notebooks = built(root, find)
    stale = [path for path, text in notebooks.items() if _text(root / path) != text]
    if not check:
        _refuse_to_lose_answers(root, stale)
        for path in stale:
            _write(root / path, notebooks[path])
    return stale


def built(root: Path, find: Find) -> dict[str, str]:
    """Every notebook that the sources under ``root`` make: path → text."""
    notebooks: dict[str, str] = {}
    problems: list[Problem] = []
    for source in _sources(root):
        file, cells = source.relative_to(root).as_posix(), _filled(read(source), root)
        if source.name == "lab.py":
            found = list(lab_problems(file, _topic(source.parent), cells, find))
            notebooks |= {} if found else _lab(source.parent, cells, find)
        else:
            found = list(lesson_problems(file, cells))
            notebooks[file.removesuffix(".py") + ".ipynb"] = _dump(notebook(cells))
        problems += found
    if problems:
        raise BuildError("\n".join(map(str, problems)))
    return notebooks


def notebook(cells: Sequence[Cell], points: Mapping[str, float] | None = None) -> Any:
    """The notebook of these cells; ``points`` by exercise name, for the tests cells of a lab that are graded."""
    nodes = [_node(cell, cell_id, points or {}) for cell, cell_id in zip(cells, _ids(cells), strict=True)]
    plain = {"metadata": _METADATA, "cells": nodes, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.from_dict(plain)  # type: ignore[no-untyped-call]


def _lab(folder: Path, cells: Sequence[Cell], find: Find) -> dict[str, str]:
    """What is extra has no points in the notebook, and its text is folded."""
    found = {c.name: find(f"{_topic(folder)}.{c.name}") for c in cells if c.kind == "tests"}
    folded = {f"about-{name}" for name, exercise in found.items() if not exercise.core}
    shown = [replace(c, metadata=dict(c.metadata) | FOLDED) if c.name in folded else c for c in cells]
    solved = notebook(shown, {name: exercise.points for name, exercise in found.items() if exercise.core})
    return {
        f"solutions/{folder.name}/lab.ipynb": _dump(solved),
        f"labs/{folder.name}/lab.ipynb": _dump(release(solved)),
    }


def _node(cell: Cell, cell_id: str, points: Mapping[str, float]) -> dict[str, Any]:
    metadata = dict(cell.metadata)
    if cell.kind == "given":
        metadata["lockstep"] = {"given": f"answer-{cell.name}"}
    elif cell.kind:
        graded = cell.kind != "tests" or cell.name in points
        role = _ROLES[cell.kind if graded else "readonly"]
        metadata["nbgrader"] = {"schema_version": 3, "grade_id": cell_id, "task": False} | role
    if cell.kind == "tests" and cell.name in points:
        metadata["nbgrader"]["points"] = points[cell.name]
    code: dict[str, Any] = {"outputs": [], "execution_count": None} if cell.type == "code" else {}
    return {"cell_type": cell.type, "id": cell_id, "metadata": metadata, "source": cell.source} | code


def _ids(cells: Sequence[Cell]) -> Iterator[str]:
    """A tag's words, or a hash of the text, so that cells keep their ids when others come and go."""
    seen: Counter[str] = Counter()
    for cell in cells:
        name = cell.tag.replace(" ", "-") or "c-" + hashlib.sha256(cell.source.encode()).hexdigest()[:10]
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}-{seen[name]}"


def _refuse_to_lose_answers(root: Path, stale: Sequence[str]) -> None:
    told = [
        f"{path} {reason}. Move it to another folder, then build."
        for path in stale
        if path.startswith("labs/") and (reason := _worth_keeping(root / path))
    ]
    if told:
        raise BuildError("\n".join(told))


def _worth_keeping(path: Path) -> str:
    """Why a released notebook must not be overwritten: an answer cell differs from what nbgrader's checksum says."""
    from nbgrader.utils import compute_checksum, is_solution

    if not path.exists():
        return ""
    try:
        cells = nbformat.read(path, as_version=4).cells  # type: ignore[no-untyped-call]
    except Exception:  # nbformat raises whatever it met: no JSON, no notebook, a version to come
        return "is not a notebook, and may still hold answers"
    changed = [c for c in cells if is_solution(c) and c.metadata.nbgrader.get("checksum") != compute_checksum(c)]
    return "holds somebody's answers" if changed else ""


def _sources(root: Path) -> list[Path]:
    front = [p for p in [root / "course" / "index.py"] if p.exists()]
    units = sorted(p for p in (root / "course").glob("*/*.py") if p.name in ("lesson.py", "lab.py"))
    return front + units


def _filled(cells: Sequence[Cell], root: Path) -> list[Cell]:
    """A line ``<!-- units -->`` stands for the table of the units."""
    return [replace(c, source=c.source.replace("<!-- units -->", contents(root))) for c in cells]


def _topic(folder: Path) -> str:
    """``04_communication`` → ``communication``."""
    return re.sub(r"^\d+_", "", folder.name)


def _dump(nb: Any) -> str:
    nbformat.validate(nb)
    text: str = nbformat.writes(nb)  # type: ignore[no-untyped-call]
    return text + "\n"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _write(path: Path, text: str) -> None:
    """Whole or not at all, so that an open JupyterLab never reads half a notebook."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".building-", text=True)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as new:
        new.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)
