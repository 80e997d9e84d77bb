"""The course as a whole: where it is, its units, and what of each is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.checks.listing import Listed, listed
from lockstep.checks.own_courses import SETTINGS, is_course, plain_files, unit_of
from lockstep.errors import UsageError


@dataclass(frozen=True)
class Unit:
    """One unit of the course. ``topic`` names its folder, its module of checks and its part of ``lockstep``."""

    number: int
    topic: str
    title: str
    question: str  # what the learner can answer at its end

    @property
    def folder(self) -> str:
        return f"{self.number:02d}_{self.topic}"

    @property
    def lesson(self) -> str:
        """The built lesson, relative to the course's root."""
        return f"course/{self.folder}/lesson.ipynb"

    @property
    def lab(self) -> str:
        return f"labs/{self.folder}/lab.ipynb"

    @property
    def solution(self) -> str:
        return f"solutions/{self.folder}/lab.ipynb"


UNITS = tuple(
    Unit(number, topic, title, question)
    for number, (topic, title, question) in enumerate([
        ("why_parallel", "Why parallel", "What do more machines buy, and where does it end?"),
        ("scikit_learn", "scikit-learn and joblib", "Which of your estimators use more than one core?"),
        ("cpu", "Inside a CPU", "How fast can one core go, and what stops it?"),
        ("gpu", "Inside a GPU", "What do 32 threads of a warp cost when they part?"),
        ("communication", "Communication", "How long until every rank has the sum?"),
        ("all_reduce_sgd", "All-reduce SGD", "When is SGD on K ranks the same SGD?"),
        ("without_waiting", "Without waiting", "What does a stale gradient cost, and what does it save?"),
        ("horovod", "Horovod", "How do six lines make a script parallel?"),
        ("fsdp", "Fully sharded data parallel", "How do you train a model that no device can hold?"),
        ("pipeline", "Pipelines", "How large is the bubble?"),
        ("tensor_parallel", "Tensor parallelism", "Along which side do you cut a matrix?"),
        ("mixture_of_experts", "Mixture of experts", "Which weights does a token need?"),
        ("hybrid", "Hybrid parallelism and planning", "Which plan fits this model on that cluster?"),
        ("bottlenecks", "Bottlenecks", "Where did the time go, and which of it can you get back?"),
    ])
)  # fmt: skip


PACKED = Path(__file__).parents[1] / "material"  # what a wheel carries of the course
MARK = ".lockstep-course"  # is in a learner's working folder, which looks like the course and is a copy


def nbgraders_settings() -> str:
    """``nbgrader_config.py`` of this course, which serves any other."""
    places = (PACKED, *Path(__file__).parents)
    return next(place / SETTINGS for place in places if (place / SETTINGS).is_file()).read_text(encoding="utf-8")


def root(start: Path | None = None) -> Path:
    """The course's folder: the nearest one at or above ``start`` (here, by default), or the one of this package.

    A learner's working folder, which may be inside it, is not one."""
    for begin in (start or Path.cwd(), Path(__file__)):
        for folder in (begin.resolve(), *begin.resolve().parents):
            if _is_course(folder):
                return folder
    if PACKED.is_dir():
        return PACKED
    raise UsageError("There is no Lockstep course here.", "Go to the folder that has course/ and labs/ in it.")


def find_unit(named: str) -> Unit:
    """The unit that a person names: 4, 04, communication or 04_communication. Raises UsageError if there is none."""
    for unit in units_of(root()):
        if named.lower() in (str(unit.number), f"{unit.number:02d}", unit.topic, unit.folder):
            return unit
    raise UsageError(f"There is no unit {named!r}.", "`lockstep units` lists them: name one by its number, as in 04.")


def search_path() -> str:
    """PATH with the folder of this Python first, so that its own lockstep, nbgrader and alembic are found."""
    tools, others = str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)
    return others if others.split(os.pathsep)[0] == tools else os.pathsep.join([tools, others])


def _is_course(folder: Path) -> bool:
    """It has nbgrader's settings, or plain exercises; any other folder with a course/ in it doesn't."""
    return is_course(folder) and not (folder / MARK).is_dir()


def units_of(at: Path) -> tuple[Unit, ...]:
    """Lockstep's units, where it is Lockstep's course, or a part of it; and those of plain exercises alone."""
    folders = sorted({path.parent for path in plain_files(at)})
    known = {unit.folder for unit in UNITS}
    own = [Unit(*named, title_of(named[1]), "") for f in folders if f.name not in known and (named := unit_of(f))]
    others = (at / "course").glob("*") if (at / "course").is_dir() else ()
    lockstep_s = not own or any(folder.name in known for folder in others)
    return (*(UNITS if lockstep_s else ()), *own)


def title_of(topic: str) -> str:
    """``moving_averages`` → "Moving averages"."""
    return next((unit.title for unit in UNITS if unit.topic == topic), topic.replace("_", " ").capitalize())


def units(at: Path | None = None) -> dict[str, Any]:
    """What there is of every unit, as plain data: what ``lockstep units --json`` prints.

    ``{"units": [{"id", "number", "title", "lesson", "lab", "solution", "exercises": [{"id", "points", "minutes",
    "signature", "kind", "core", "mutants", "alternatives"}]}]}``, the last two counted. ``at`` is the course's folder
    (``root()``).
    """
    folder, known = at or root(), listed()
    return {"units": [_unit(folder, unit, [e for e in known if e.topic == unit.topic]) for unit in units_of(folder)]}


def contents(at: Path) -> str:
    """A table of the units in Markdown, with links that work from the front page, ``course/index.ipynb``."""
    head = ["| | Unit | What you can answer then | |", "|:--|:--|:--|:--|"]
    return "\n".join(head + [_line(at / "course" / unit.folder, unit) for unit in units_of(at)])


def _line(folder: Path, unit: Unit) -> str:
    title = f"[{unit.title}](../{unit.lesson})" if (folder / "lesson.py").exists() else unit.title
    lab = f"[lab](../{unit.lab})" if (folder / "lab.py").exists() or unit not in UNITS else ""
    there = lab or ("" if (folder / "lesson.py").exists() else "to come")
    return f"| {unit.number:02d} | {title} | {unit.question} | {there} |"


def _unit(at: Path, unit: Unit, mine: Sequence[Listed]) -> dict[str, Any]:
    return {
        "id": unit.topic,
        "number": unit.number,
        "title": unit.title,
        "lesson": (at / unit.lesson).is_file(),
        "lab": (at / unit.lab).is_file(),
        "solution": (at / unit.solution).is_file(),
        "exercises": [_exercise(e) for e in mine],
    }


def _exercise(exercise: Listed) -> dict[str, Any]:
    published = {name: getattr(exercise, name) for name in ("id", "points", "minutes", "signature")}
    return published | {
        "kind": exercise.kind,
        "core": exercise.core,
        "mutants": exercise.mutants,
        "alternatives": exercise.alternatives,
    }
