"""otter-grader as a peer of ``lockstep bench grade``: the same submissions, with tests that call Lockstep's checks.

``otter run`` grades one notebook in a kernel of its own, without docker, and is started once for each; ``otter grade``,
which starts several containers, needs an engine of docker and is not compared.
"""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

NAME = "otter run"
SOURCE = ">>> from lockstep import check\n>>> check({id!r}, {name}).verdict\n'passed'"
Notebook = Mapping[str, Any]


def is_installed() -> bool:
    return importlib.util.find_spec("otter") is not None


def graded(
    folder: Path, submissions: Sequence[Path], topic: str, command: Callable[..., None]
) -> tuple[float, list[tuple[str, float]]]:
    """The seconds that grading took, and each student's points. ``command(folder, "otter", ...)`` runs otter."""
    (folder / "tests").mkdir(parents=True)
    for name, points in tests(json.loads(submissions[0].read_text(encoding="utf-8"))):
        (folder / "tests" / f"{name}.py").write_text(as_test(f"{topic}.{name}", name, points), encoding="utf-8")
    command(folder, "otter", "generate", "-t", "tests", "-o", "autograder.zip")
    written = [without_tests(file, folder) for file in submissions]
    began, found = time.monotonic(), []
    for file in written:
        command(folder, "otter", "run", "-a", "autograder.zip", "-o", str(file.parent), str(file))
        results = json.loads((file.parent / "results.json").read_text(encoding="utf-8"))
        found.append((file.parent.name, sum(one.get("score", 0.0) for one in results["tests"])))
    return time.monotonic() - began, found


def tests(notebook: Notebook) -> Iterator[tuple[str, float]]:
    """The exercises of a lab with their points; 0 for an extra one."""
    for cell in notebook["cells"]:
        noted = cell["metadata"].get("nbgrader", {})
        if noted.get("grade_id", "").startswith("tests-"):
            yield noted["grade_id"].removeprefix("tests-"), noted.get("points") or 0.0


def as_test(id: str, name: str, points: float) -> str:
    """The text of a test file in otter's OK format."""
    case = {"code": SOURCE.format(id=id, name=name), "hidden": False, "locked": False}
    suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
    return f"OK_FORMAT = True\n\ntest = { ({'name': name, 'points': points, 'suites': [suite]})!r}\n"


def without_tests(file: Path, folder: Path) -> Path:
    """A copy of a student's notebook, without the cells that would run the checks a second time."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    asked = {f"tests-{name}" for name, _ in tests(notebook)}
    notebook["cells"] = [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") not in asked]
    copy = folder / "submitted" / file.parents[1].name / file.name
    copy.parent.mkdir(parents=True)
    copy.write_text(json.dumps(notebook), encoding="utf-8")
    return copy
