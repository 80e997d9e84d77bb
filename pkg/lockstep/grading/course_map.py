"""The front page's map: every unit, what you have done of it, and where to go on.

It is the first thing that a learner runs. So it reads the labs as they were built, which takes milliseconds: the
exercises themselves import torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Protocol

from lockstep import progress
from lockstep.grading.course import Unit, root, units_of
from lockstep.grading.course_progress import Guess, LessonDone, lesson_done, nearness

TESTS = "tests-"  # begins the grade id of a cell that checks


class Scored(Protocol):
    """The part of a score on record that counts here: the best attempt's points, and when the last one was."""

    @property
    def best(self) -> float: ...

    @property
    def when(self) -> str: ...


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
    read: LessonDone = field(default_factory=LessonDone)  # what is done of the lesson
    when: str = ""  # something was last done of it, in ISO 8601

    @property
    def begun(self) -> bool:
        return self.in_lab or self.read.begun

    @property
    def in_lab(self) -> bool:
        return self.points > 0 or self.extra > 0

    @property
    def to_lab(self) -> bool:
        """Whether the lab comes next, and not the lesson."""
        return self.lab and (self.in_lab or self.read.finished or not self.lesson)

    @property
    def done(self) -> bool:
        return self.maximum > 0 and not self.left

    @property
    def status(self) -> str:
        if not (self.lesson or self.lab):
            return "to come"
        told = "done" if self.done else f"{self.points:g} of {self.maximum:g} points"
        return f"{told}, {self.extra:g} extra" if self.extra else told

    @property
    def lesson_status(self) -> str:
        """``9 of 13``, and how many of the others were shown."""
        if not (self.lesson and self.read.of):
            return ""
        told = f"{self.read.done} of {self.read.of}"
        return f"{told}, {self.read.shown} shown" if self.read.shown else told


@dataclass(frozen=True)
class CourseMap:
    """On the front page, which has the table of the units already: where to go on, and what is begun of each unit.
    Elsewhere, as text, every unit."""

    rows: tuple[Row, ...]

    @property
    def next(self) -> Row | None:
        """Where to go on: of the units that were begun and not finished the one worked on last, else the first that is
        not done."""
        open_rows = [r for r in self.rows if (r.lesson or r.lab) and not r.done]
        return _latest(open_rows) or (open_rows[0] if open_rows else None)

    @property
    def latest(self) -> Row | None:
        """The unit that was worked on last."""
        return _latest(self.rows)

    @property
    def guesses(self) -> list[Guess]:
        """All predictions, in the order of the course."""
        return [guess for row in self.rows for guess in row.read.guesses]

    @property
    def total(self) -> str:
        """All units together, in one sentence, and how near the predictions came; "" before anything is done."""
        if not any(r.begun for r in self.rows):
            return ""
        done, of = sum(r.read.done for r in self.rows), sum(r.read.of for r in self.rows)
        points, most = sum(r.points for r in self.rows), sum(r.maximum for r in self.rows)
        extra = sum(r.extra for r in self.rows)
        bonus = f", and {extra:g} extra" if extra else ""
        told = f"In all: {done} of {of} steps in the lessons, {points:g} of {most:g} points in the labs{bonus}."
        return f"{told} {nearness(self.guesses)}".rstrip()

    @property
    def advice(self) -> str:
        """Where to go on, in one sentence."""
        row = self.next
        if row is None:
            return "You have done all that is here so far."
        named = f"unit {row.unit.number:02d}, {row.unit.title}"
        if not row.to_lab:
            return f"{'Go on' if row.begun else 'Begin'} with the lesson of {named}."
        return f"Go on with the lab of {named}" + (f": {row.left[0]} comes next." if row.left else ".")

    def __repr__(self) -> str:
        lines = [f"{r.unit.number:02d}  {r.unit.title:<32} {r.lesson_status:<19} {r.status}" for r in self.rows]
        return "\n".join([*lines, *filter(None, [self.total]), self.advice])

    def _repr_html_(self) -> str:
        advice = f"<p><b>{escape(self.advice)}</b> {self._link_to_next()}</p>"
        rows = "".join(self._row(r) for r in self.rows if r.begun)
        if not rows:
            return advice
        titles = ("", "Unit", "Lesson", "Lab")
        head = "<tr>" + "".join(f'<th style="text-align: left">{t}</th>' for t in titles) + "</tr>"
        return f"{advice}<table>{head}{rows}</table><p>{escape(self.total)}</p>"

    def _row(self, row: Row) -> str:
        read = f"{_bar(row.read.done, row.read.of)} {escape(row.lesson_status)}" if row.lesson_status else ""
        cells = (
            f"{row.unit.number:02d}",
            escape(row.unit.title),
            f"{read} {_link(row.unit.lesson, 'open')}" if row.lesson else "",
            f"{_bar(row.points, row.maximum)} {escape(row.status)} {_link(row.unit.lab, 'open')}" if row.lab else "",
        )
        return "<tr>" + "".join(f'<td style="text-align: left">{c}</td>' for c in cells) + "</tr>"

    def _link_to_next(self) -> str:
        row = self.next
        if row is None:
            return ""
        return _link(row.unit.lab, "Open the lab") if row.to_lab else _link(row.unit.lesson, "Open the lesson")


def _latest(rows: Sequence[Row]) -> Row | None:
    return max((r for r in rows if r.begun), key=lambda r: r.when, default=None)


def course_map(at: Path | None = None) -> CourseMap:
    """The course in the folder ``at`` (found by itself if not given), with your own progress."""
    folder, scores = at or root(), progress.scores()
    return CourseMap(tuple(_row(folder, unit, scores) for unit in units_of(folder)))


def _row(folder: Path, unit: Unit, scores: Mapping[str, Scored]) -> Row:
    asked = functions(folder / unit.lab)
    best = {name: scores[id].best for name in asked if (id := f"{unit.topic}.{name}") in scores}
    core = {name: points for name, points in asked.items() if points}
    done = {name: min(best.get(name, 0.0), points) for name, points in core.items()}
    left = tuple(name for name, points in core.items() if done[name] < points)
    extra = sum(points for name, points in best.items() if name not in core)
    lesson, lab = (folder / unit.lesson).is_file(), (folder / unit.lab).is_file()
    read = lesson_done(unit.topic) if lesson else LessonDone()
    when = max((scores[id].when for name in best if (id := f"{unit.topic}.{name}")), default="")
    return Row(unit, lesson, lab, sum(done.values()), sum(core.values()), left, extra, read, max(when, read.when))


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


def _bar(done: float, of: float) -> str:
    """The browser's own bar: it follows the theme, and a screen reader reads it; in the green of what is right once it
    is full."""
    colour = "#117733" if of and done >= of else "auto"
    return f'<progress value="{done:g}" max="{of or 1:g}" style="width: 6em; accent-color: {colour}"></progress>'


def _link(path: str, words: str) -> str:
    """To a notebook, from the front page in course/."""
    return f'<a href="../{path}">{words}</a>'
