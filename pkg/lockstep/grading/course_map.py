"""The front page's map: every unit, what you have done of it, and where to go on.

It is the first thing that a learner runs. So it reads the labs as they were built, which takes milliseconds: the
exercises themselves import torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Protocol

from lockstep import progress
from lockstep.grading.course import UNITS, Unit, root

TESTS = "tests-"  # begins the grade id of a cell that checks


class Scored(Protocol):
    """The part of a score on record that counts here: the best attempt's points."""

    @property
    def best(self) -> float: ...


@dataclass(frozen=True)
class Row:
    """One unit: what is written of it, and how much of it is done."""

    unit: Unit
    lesson: bool
    lab: bool
    points: float  # of the best attempts at core exercises
    maximum: float
    left: tuple[str, ...]  # core functions that do not have full points yet
    extra: float = 0.0  # points of the best attempts at the others

    @property
    def begun(self) -> bool:
        return self.points > 0 or self.extra > 0

    @property
    def to_lab(self) -> bool:
        """Whether the lab comes next, and not the lesson."""
        return self.lab and (self.begun or not self.lesson)

    @property
    def done(self) -> bool:
        return self.maximum > 0 and not self.left

    @property
    def status(self) -> str:
        if not (self.lesson or self.lab):
            return "to come"
        told = "done" if self.done else f"{self.points:g} of {self.maximum:g} points"
        return f"{told}, {self.extra:g} extra" if self.extra else told


@dataclass(frozen=True)
class CourseMap:
    """On the front page, where the table of the units stands already: where to go on, and what is begun of each unit.
    Elsewhere, as text, every unit."""

    rows: tuple[Row, ...]

    @property
    def next(self) -> Row | None:
        """Where to go on: the first unit that has been begun and not finished, else the first that is not done."""
        open_rows = [r for r in self.rows if (r.lesson or r.lab) and not r.done]
        return next((r for r in open_rows if r.begun), open_rows[0] if open_rows else None)

    @property
    def advice(self) -> str:
        """Where to go on, in one sentence."""
        row = self.next
        if row is None:
            return "You have done all that is here so far."
        named = f"unit {row.unit.number:02d}, {row.unit.title}"
        if not row.to_lab:
            return f"Begin with the lesson of {named}."
        return f"Go on with the lab of {named}" + (f": {row.left[0]} comes next." if row.left else ".")

    def __repr__(self) -> str:
        lines = [f"{r.unit.number:02d}  {r.unit.title:<32} {r.status}" for r in self.rows]
        return "\n".join([*lines, self.advice])

    def _repr_html_(self) -> str:
        advice = f"<p><b>{escape(self.advice)}</b> {self._link_to_next()}</p>"
        rows = "".join(self._row(r) for r in self.rows if r.begun)
        if not rows:
            return advice
        head = "<tr>" + "".join(f'<th style="text-align: left">{t}</th>' for t in ("", "Unit", "", "Done")) + "</tr>"
        return f"{advice}<table>{head}{rows}</table>"

    def _row(self, row: Row) -> str:
        title = escape(row.unit.title)
        cells = (
            f"{row.unit.number:02d}",
            _link(row.unit.lesson, title) if row.lesson else title,
            _link(row.unit.lab, "lab") if row.lab else "",
            _bar(row) + escape(row.status),
        )
        return "<tr>" + "".join(f'<td style="text-align: left">{c}</td>' for c in cells) + "</tr>"

    def _link_to_next(self) -> str:
        row = self.next
        if row is None:
            return ""
        return _link(row.unit.lab, "Open the lab") if row.to_lab else _link(row.unit.lesson, "Open the lesson")


def course_map(at: Path | None = None) -> CourseMap:
    """The course in the folder ``at`` (found by itself if not told), with your own progress."""
    folder, scores = at or root(), progress.scores()
    return CourseMap(tuple(_row(folder, unit, scores) for unit in UNITS))


def _row(folder: Path, unit: Unit, scores: Mapping[str, Scored]) -> Row:
    asked = functions(folder / unit.lab)
    best = {name: scores[id].best for name in asked if (id := f"{unit.topic}.{name}") in scores}
    core = {name: points for name, points in asked.items() if points}
    done = {name: min(best.get(name, 0.0), points) for name, points in core.items()}
    left = tuple(name for name, points in core.items() if done[name] < points)
    extra = sum(points for name, points in best.items() if name not in core)
    lesson, lab = (folder / unit.lesson).is_file(), (folder / unit.lab).is_file()
    return Row(unit, lesson, lab, sum(done.values()), sum(core.values()), left, extra)


def functions(lab: Path) -> dict[str, float]:
    """What a built lab asks for, in its order, with the points of each; 0 for what is extra. Empty if there is none."""
    try:
        cells = json.loads(lab.read_text(encoding="utf-8"))["cells"]
        marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        return {
            mark["grade_id"].removeprefix(TESTS): float(mark.get("points", 0))
            for mark in marks
            if mark.get("grade_id", "").startswith(TESTS)
        }
    except (OSError, ValueError, TypeError, KeyError):  # none, or no notebook any more
        return {}


def _bar(row: Row) -> str:
    """The browser's own bar: it follows the theme, and a screen reader reads it."""
    if not row.maximum or row.done:
        return ""
    return f'<progress value="{row.points:g}" max="{row.maximum:g}" style="width: 6em"></progress> '


def _link(path: str, words: str) -> str:
    """To a notebook, from the front page in course/."""
    return f'<a href="../{path}">{words}</a>'
