"""A lab's cells for the plain exercises of a unit: written as an author would write them in ``lab.py``.

Where the unit has a ``lab.py``, each exercise that it does not ask for itself is added: a core one above the first
extra, an extra one at the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from lockstep.checks.listing import FOLDER
from lockstep.checks.own_courses import plain_files, topic_of
from lockstep.checks.plain_file import PlainFile, in_order, read
from lockstep.checks.plain_text import answer, given_imports, without_answers
from lockstep.errors import UsageError
from lockstep.grading.lab_rules import Graded
from lockstep.grading.text_notebook import Cell

HOW = (
    "Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it calls your "
    "function with several values, and says what it saw and how many points that gives. Try as often as you like.\n\n"
    "**Return** the answer: printing it is not enough. What your function is given stays as it is."
)


def plain_of(folder: Path) -> list[PlainFile]:
    """The plain exercises of a unit, in the lab's order; ``folder`` is course/NN_topic. Raises UsageError for one that
    is not as it should be."""
    files = [path for path in plain_files(folder.parents[1]) if path.parent == folder]
    for path in files:
        if (FOLDER / topic_of(path) / path.stem / "exercise.py").is_file():
            raise UsageError(
                f"{path.name}: Lockstep has an exercise {path.stem} in this unit.", "Name yours otherwise."
            )
    return in_order(read(path, topic_of(path)) for path in files)


def whole_lab(title: str, files: Sequence[PlainFile]) -> list[Cell]:
    """Of a unit that has no ``lab.py``."""
    imports = [line for file in files for line in given_imports(file).splitlines()]
    head = [
        Cell("markdown", f"# {title}\n\n{HOW}", "readonly title"),
        Cell("code", "\n".join(dict.fromkeys([*imports, "from lockstep import check"])), "readonly imports"),
    ]
    return [*head, *(cell for file in files for cell in _cells(file))]


def added(cells: Sequence[Cell], files: Sequence[PlainFile], exercises: Mapping[str, Graded]) -> list[Cell]:
    """A unit's own cells with those of its plain exercises. ``exercises``: by name, those that the cells test."""
    names = {cell.name for cell in cells if cell.kind == "tests"}
    more = [file for file in files if file.function not in names]
    core = [cell for file in more if file.core for cell in _with_imports(file)]
    extra = [cell for file in more if not file.core for cell in _with_imports(file)]
    place = _first_extra(cells, exercises)
    return [*cells[:place], *core, *cells[place:], *extra]


def _first_extra(cells: Sequence[Cell], exercises: Mapping[str, Graded]) -> int:
    """Where the first extra exercise begins: with its text."""
    extra = next((c.name for c in cells if c.kind == "tests" and not exercises[c.name].core), "")
    tags = (f"about-{extra}", extra)
    return next((at for at, cell in enumerate(cells) if extra and cell.name in tags), len(cells))


def _with_imports(file: PlainFile) -> list[Cell]:
    imports = given_imports(file)
    given = [Cell("code", imports, f"readonly imports-{file.function}")] if imports else []
    return [*given, *_cells(file)]


def _cells(file: PlainFile) -> list[Cell]:
    where = f"*Each of {file.ranks} ranks calls your function.*\n\n" if file.ranks and file.ranks > 1 else ""
    about = f"## {file.title} ({{minutes}} minutes, {{points}} points)\n\n{where}{file.about}".rstrip()
    hint = [Cell("markdown", "\n\n---\n\n".join(map(str.strip, file.hints)), f"hint {file.function}")]
    return [
        Cell("markdown", about, f"readonly about-{file.function}"),
        *(hint if file.hints else []),
        Cell("code", answer(file), f"answer {file.function}"),
        Cell("code", f'check("{file.id}", {file.function})', f"tests {file.function}"),
    ]


def handed_out_text(files: Sequence[PlainFile]) -> str:
    """``exercises.json``: what a learner's check needs of them."""
    told = {"exercises": {file.id: without_answers(file) for file in files}}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"
