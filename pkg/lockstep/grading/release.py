"""From a solved lab to the one that a student gets, by nbgrader's own rules.

``nbgrader generate_assignment`` runs the same steps (``nbgrader_config.py`` tells it to), so its result and the build's
are the same file. One step is ours: a function that is given broken, to be fixed, goes into the answer cell where
nbgrader would put ``raise NotImplementedError()``.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import (
    ClearSolutions,
    IncludeHeaderFooter,
    InstantiateTests,
    NbGraderPreprocessor,
    SaveCells,
)
from nbgrader.utils import is_solution

_NEED_A_COURSE = (
    IncludeHeaderFooter,
    InstantiateTests,
    SaveCells,
)  # files and a gradebook; they change no cell of ours


class GivenCode(NbGraderPreprocessor):  # type: ignore[misc]
    """Show the given code in its answer cell, and drop the cell that held it in the solved lab."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        given = {_given(cell): cell.source for cell in nb.cells if _given(cell)}
        nb.cells = [cell for cell in nb.cells if not _given(cell)]
        for cell in nb.cells:
            if is_solution(cell) and cell.metadata.nbgrader.grade_id in given:
                cell.source = given[cell.metadata.nbgrader.grade_id]
        return nb, resources


def _given(cell: Any) -> str:
    """The grade id of the answer cell that this cell's code belongs into; empty for every other cell."""
    return str(cell.metadata.get("lockstep", {}).get("given", ""))


def steps() -> list[Any]:
    """nbgrader's preprocessors of an assignment, with GivenCode behind the one that takes the solutions out."""
    nbgraders = list(GenerateAssignment().preprocessors)
    behind = nbgraders.index(ClearSolutions) + 1
    return [*nbgraders[:behind], GivenCode, *nbgraders[behind:]]


def release(solved: Any) -> Any:
    """The student's notebook for a solved one (nbformat's notebook nodes)."""
    nb = deepcopy(solved)
    resources: dict[str, Any] = {"nbgrader": {}}
    for step in steps():
        if step not in _NEED_A_COURSE:
            nb, resources = step().preprocess(nb, resources)
    return nb
