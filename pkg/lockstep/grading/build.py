"""Make the notebooks from the authors' text sources.

::

    course/index.py            →  course/index.ipynb            the front page, with the table of the units
    course/NN_topic/lesson.py  →  course/NN_topic/lesson.ipynb  to read and run
    course/NN_topic/more.py    →  course/NN_topic/more.ipynb    what a lesson has no room for
                               →  course/NN_topic/opening.svg  the picture at the top of a lesson
             of both together  →  pkg/lockstep/lessons/topic.json  what is behind them, if something is
    course/NN_topic/lab.py     →  solutions/NN_topic/lab.ipynb  solved: nbgrader's source notebook
                               →  labs/NN_topic/lab.ipynb       what a student gets
    course/NN_topic/FUNCTION.py, plain exercises: a part of that lab, or all of it
                               →  labs/NN_topic/exercises.json  what a student's check needs of them
    docs/coverage.toml         →  docs/coverage.md             what of the lecture notes is taught where
    maps in pkg/lockstep/      →  docs/glossary.md             which file has what term
    nbgrader_config.py of Lockstep, for a course of a teacher's own that has none
    exercise.py of all         →  pkg/lockstep/exercises/index.json  what the course says of each

The notebooks hold no outputs, and building twice changes nothing: a cell's id is its tag, or a hash of its text.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat

from lockstep.checks import listing
from lockstep.checks.own_courses import HANDED_OUT, SETTINGS
from lockstep.checks.plain_file import PlainFile
from lockstep.distribution import VERSION
from lockstep.errors import LockstepError, UsageError
from lockstep.grading import coverage_sheet, glossary
from lockstep.grading.course import contents, nbgraders_settings, title_of
from lockstep.grading.hints import nested
from lockstep.grading.lab_rules import Find, Graded, front_problems, lab_problems
from lockstep.grading.lesson_answers import answer_problems
from lockstep.grading.lesson_counts import filled, pattern_problems
from lockstep.grading.lesson_parts import SOURCES, part
from lockstep.grading.lesson_rules import leaks, topic_problems
from lockstep.grading.plain_lab import added, handed_out_text, plain_of, whole_lab
from lockstep.grading.release import release
from lockstep.grading.submission import Made
from lockstep.grading.text_notebook import Cell, Problem, read
from lockstep.lessons.after import MARK
from lockstep.show.openings import TOPICS, alternative, opening

_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
OPENING = "opening.svg"
UNSAID = f"![]({OPENING})"  # as an author writes it: the drawing says itself
FOLDED = {"jp-MarkdownHeadingCollapsed": True}  # JupyterLab hides what is below the heading until it is opened
_ROLES = {
    "readonly": {"grade": False, "solution": False, "locked": True},
    "hint": {"grade": False, "solution": False, "locked": True},
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
    """Every notebook that the sources under ``root`` make, what is behind them, and the sheet: path → text."""
    front = root / "course" / "index.py"
    made = [_front(front, root)] if front.exists() else []
    for folder in sorted(p for p in (root / "course").glob("*") if p.is_dir()):
        made += [_lesson_of(folder, root), _lab_of(folder, root, find)]
    if problems := [str(problem) for one in made for problem in one.problems]:
        raise BuildError("\n".join(problems))
    sheet = {coverage_sheet.PAGE: coverage_sheet.page(root)} if (root / coverage_sheet.SOURCE).exists() else {}
    terms = {glossary.PAGE: glossary.page(root)} if any(glossary.techniques(root)) else {}
    files = {path: text for one in made for path, text in one.files.items()}
    has_lab = any(path.startswith("labs/") for path in files)
    settings = {SETTINGS: nbgraders_settings()} if has_lab and not (root / SETTINGS).exists() else {}
    return settings | sheet | terms | _index(root) | files


def _index(root: Path) -> dict[str, str]:
    """Of this package's exercises, where ``root`` is its clone: another course has none of its own."""
    index, clone = listing.INDEX.resolve(), root.resolve()
    if not index.is_relative_to(clone / "pkg"):
        return {}
    from lockstep.checks import exercises

    return {index.relative_to(clone).as_posix(): listing.text(exercises())}


def build_complete(root: Path, to: Path) -> list[str]:
    """Write every lesson, complete, into the folder ``to``: all that is behind in its place, solutions filled in.

    The paths, relative to ``to``. For teachers and for tests: nothing in them waits. Raises BuildError if a source is
    wrong, and UsageError if ``to`` is a folder of the course itself.
    """
    if any(to.resolve().is_relative_to(root / own) for own in ("course", "labs", "solutions", "pkg")):
        raise UsageError(f"{to} belongs to the course.", "Name another folder: complete lessons hold the answers.")
    made = [_lesson_of(folder, root) for folder in sorted((root / "course").glob("*")) if folder.is_dir()]
    if problems := [str(problem) for one in made for problem in one.problems]:
        raise BuildError("\n".join(problems))
    complete = {path: text for one in made for path, text in one.complete.items()}
    for path, text in complete.items():
        _write(to / path, text)
    return list(complete)


@dataclass(frozen=True)
class _Made:
    """What comes of one or two sources."""

    files: Mapping[str, str] = field(default_factory=dict)
    complete: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[Problem] = ()


def _front(source: Path, root: Path) -> _Made:
    cells = [replace(c, source=c.source.replace("<!-- units -->", contents(root))) for c in read(source)]
    problems = list(front_problems(source.relative_to(root).as_posix(), cells))
    return _Made({"course/index.ipynb": _dump(notebook(cells))}, problems=problems)


def _lesson_of(folder: Path, root: Path) -> _Made:
    sources = {stem: read(folder / f"{stem}.py") for stem in SOURCES if (folder / f"{stem}.py").exists()}
    problems = list(topic_problems(f"course/{folder.name}", sources))
    problems += answer_problems(f"course/{folder.name}", sources)
    if "lesson" in sources:
        problems += pattern_problems(f"course/{folder.name}/lesson.py", sources["lesson"])
    if problems:
        return _Made(problems=problems)
    if "lesson" in sources:
        sources["lesson"] = filled(sources["lesson"])
    topic = _topic(folder)
    first = next(iter(sources.get("lesson", [])), None)
    shown = first is not None and UNSAID in first.source
    if first is not None and shown and topic not in TOPICS:
        undrawn = "lockstep.show.openings draws nothing for it: take the picture out, or add the module"
        return _Made(problems=[Problem(f"course/{folder.name}/lesson.py", first, undrawn)])
    drawn = f"{opening(topic)}\n" if shown else ""
    sources = {stem: [replace(c, source=_said(c.source, drawn)) for c in cells] for stem, cells in sources.items()}
    parted = part(topic, sources)
    if problems := list(leaks(f"course/{folder.name}", parted)):
        return _Made(problems=problems)
    seen = {stem: notebook(cells) for stem, cells in parted.seen.items()}
    files = {f"course/{folder.name}/{stem}.ipynb": _dump(nb) for stem, nb in seen.items()}
    files |= {f"course/{folder.name}/{OPENING}": drawn} if drawn else {}
    if any(c.lesson for cells in sources.values() for c in cells):
        order = [c.id for nb in seen.values() for c in nb.cells if c.source.startswith(MARK)]
        files[f"pkg/lockstep/lessons/{topic}.json"] = replace(parted.behind, order=order).text()
    complete = {f"{folder.name}/{stem}.ipynb": _dump(notebook(cells)) for stem, cells in parted.complete.items()}
    complete |= {f"{folder.name}/{OPENING}": drawn} if drawn else {}
    return _Made(files, complete)


def _said(source: str, drawn: str) -> str:
    """A cell with the alternative text of its picture, which the drawing knows."""
    return source.replace(UNSAID, f"![{alternative(drawn)}]({OPENING})") if drawn else source


def _lab_of(folder: Path, root: Path, find: Find) -> _Made:
    source, plain = folder / "lab.py", plain_of(folder)
    if not source.exists() and not plain:
        return _Made()
    cells, file = read(source) if source.exists() else [], source.relative_to(root).as_posix()
    known = _with_plain(plain, find)
    problems = list(lab_problems(file, _topic(folder), cells, known))
    if not problems and plain:
        cells = _lab_with_plain(folder, cells, plain, known)
        problems = list(lab_problems(file, _topic(folder), cells, known))
    if problems:
        return _Made(problems=problems)
    data = dict.fromkeys([f"{top}/{folder.name}/{HANDED_OUT}" for top in ("labs", "solutions")], handed_out_text(plain))
    return _Made(_lab(folder, cells, known) | (data if plain else {}))


def _with_plain(plain: Sequence[PlainFile], find: Find) -> Find:
    """``find`` that knows the plain exercises of a unit, too, wherever that is."""
    files = {file.id: file for file in plain}
    return lambda id: files.get(id) or find(id)


def _lab_with_plain(folder: Path, cells: Sequence[Cell], plain: Sequence[PlainFile], find: Find) -> list[Cell]:
    if not cells:
        return whole_lab(f"Lab {folder.name[:2]}: {title_of(_topic(folder))}", plain)
    return added(cells, plain, {c.name: find(f"{_topic(folder)}.{c.name}") for c in cells if c.kind == "tests"})


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
    shown = [replace(c, source=nested(c.source)) if c.kind == "hint" else c for c in shown]
    shown = [_filled(c, found.get(c.name.removeprefix("about-"))) for c in shown]
    shown = [replace(c, source=f"{_import_of_check(cells)}\n\n{c.source}") if c.kind == "tests" else c for c in shown]
    solved = notebook(shown, {name: exercise.points for name, exercise in found.items() if exercise.core})
    solved.metadata["lockstep"] = Made(folder.name, VERSION).to_json()
    return {
        f"solutions/{folder.name}/lab.ipynb": _dump(solved),
        f"labs/{folder.name}/lab.ipynb": _dump(release(solved)),
    }


def _import_of_check(cells: Sequence[Cell]) -> str:
    """As the lab has it: a tests cell has it, too, and so runs after a restart, and checks although somebody has named
    something else ``check``."""
    homes = [home for c in cells for home in re.findall(r"^from (\S+) import .*\bcheck\b", c.source, re.MULTILINE)]
    return f"from {homes[0] if homes else 'lockstep'} import check"


def _filled(cell: Cell, exercise: Graded | None) -> Cell:
    """The text of an exercise with its minutes and points, which it writes ``{minutes}`` and ``{points}``."""
    if cell.type != "markdown" or exercise is None:
        return cell
    points = f"{exercise.points:g} point{'' if exercise.points == 1 else 's'}"
    told = {"{minutes}": f"{exercise.minutes}", "{points} points": points, "{points}": f"{exercise.points:g}"}
    source = cell.source
    for field_, number in told.items():
        source = source.replace(field_, number)
    return replace(cell, source=source)


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
        if path.startswith("labs/") and path.endswith(".ipynb") and (reason := _worth_keeping(root / path))
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
    """Atomically, so that an open JupyterLab never reads half a notebook."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".building-", text=True)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as new:
        new.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)
