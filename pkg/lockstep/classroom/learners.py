"""What the board knows of a class: for each learner, what they have last done of each exercise. No code, no time of
day, and no name but a nickname that somebody has chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lockstep.checks.listing import Listed, listed
from lockstep.checks.misconceptions import named, words
from lockstep.grading.course import Unit, root, units_of
from lockstep.reports.report import Answers, Report, Result

LEAST = 3  # learners: fewer than these are not shown to be stuck, since the room would know who it is
MOST_STUCK = 6  # rows
VAGUE = ("wrong-values", "incomparable", "fails-check")  # no more was found: these come last
MOST_NAMED = 24
ACTIVE = 600.0  # seconds since the last report


@dataclass
class Work:
    """One learner's work on an exercise: the best points, and what the last check said."""

    best: float = 0.0
    last: float = 0.0
    misconception: str = ""
    tries: int = 0


@dataclass
class Learner:
    nickname: str = ""
    number: int = 0  # of the last result that was received
    seen: float = 0.0  # when that was, by this machine's clock
    works: dict[str, Work] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)  # of the inventory, by form


@dataclass(frozen=True)
class Course:
    """The exercises that a report may name, and their units in the order of the course."""

    units: tuple[Unit, ...]
    exercises: Mapping[str, Listed]

    @classmethod
    def here(cls) -> Course:
        """Lockstep's, and the one that is open in the working directory."""
        return cls(units_of(root()), {exercise.id: exercise for exercise in listed()})

    def knows(self, result: Result) -> bool:
        """Whether the course has this exercise, so many points for it, and this misconception of it."""
        exercise = self.exercises.get(result.exercise)
        if exercise is None or result.points > exercise.points:
            return False
        return result.misconception == "" or result.misconception in named(exercise.id)

    def core(self, unit: Unit) -> list[Listed]:
        return [e for e in self.exercises.values() if e.topic == unit.topic and e.core]

    def is_passed(self, id: str, work: Work) -> bool:
        return id in self.exercises and work.best >= self.exercises[id].points


class Learners:
    """A class. Reports may come twice and in any order: what is older than the last one that arrived counts no more."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.by_id: dict[str, Learner] = {}

    def new(self, report: Report) -> list[Result]:
        """Those of the report's results that have not been received yet, and that the course knows."""
        learner = self.by_id.get(report.learner, Learner())
        return [r for r in report.results if r.number > learner.number and self.course.knows(r)]

    def take(self, report: Report, at: float) -> None:
        """Note a report that arrived at the time ``at``, in seconds."""
        fresh = self.new(report)
        learner = self.by_id.setdefault(report.learner, Learner())
        learner.nickname, learner.seen = report.nickname, at
        for result in fresh:
            work = learner.works.setdefault(result.exercise, Work())
            work.best, work.last = max(work.best, result.points), result.points
            work.misconception, work.tries = result.misconception, work.tries + 1
        learner.number = max([learner.number, *(r.number for r in report.results)])

    def take_answers(self, given: Answers, at: float) -> None:
        learner = self.by_id.setdefault(given.learner, Learner())
        learner.answers[given.form], learner.seen = given.answers, at

    def forget(self, learner: str) -> None:
        self.by_id.pop(learner, None)

    def told(self, now: float, names: bool = True) -> dict[str, Any]:
        """What the page shows, as plain data."""
        people = [learner for learner in self.by_id.values() if learner.number or not learner.answers]
        return {
            "learners": len(people),
            "active": sum(now - learner.seen <= ACTIVE for learner in people),
            "units": [self._unit(unit, people) for unit in self.course.units if self.course.core(unit)],
            "stuck": self._stuck(people),
            "named": self._named(people) if names else [],
        }

    def _unit(self, unit: Unit, people: Sequence[Learner]) -> dict[str, Any]:
        """How many have begun it, how many have passed all core exercises, and each exercise alone."""
        core = self.course.core(unit)
        passed = [[self._has_passed(p, e) for e in core] for p in people]
        begun = [any(e.id in p.works for e in core) for p in people]
        done = sum(map(all, passed))
        each = [{"title": e.title, "passed": sum(row[n] for row in passed)} for n, e in enumerate(core)]
        return {
            "number": unit.number,
            "title": unit.title,
            "done": done,
            "begun": sum(begun) - done,
            "exercises": each,
        }

    def _has_passed(self, learner: Learner, exercise: Listed) -> bool:
        return exercise.id in learner.works and self.course.is_passed(exercise.id, learner.works[exercise.id])

    def _stuck(self, people: Iterable[Learner]) -> list[dict[str, Any]]:
        """The most frequent misconceptions of those whose last check of an exercise was not passed, most first, and
        those that say little after the others."""
        now = Counter(
            (id, work.misconception)
            for p in people
            for id, work in p.works.items()
            if work.misconception and not self.course.is_passed(id, work)
        )
        shown = [(n, *key) for key, n in now.items() if n >= LEAST]
        return [
            self._row(*row) for row in sorted(shown, key=lambda row: (row[2] in VAGUE, -row[0], row[1:]))[:MOST_STUCK]
        ]

    def _row(self, learners: int, id: str, misconception: str) -> dict[str, Any]:
        exercise = self.course.exercises[id]
        unit = next((u for u in self.course.units if u.topic == exercise.topic), None)
        return {
            "learners": learners,
            "exercise": id,
            "title": exercise.title,
            "unit": unit.number if unit else None,
            "misconception": misconception,
            "words": words(misconception),
        }

    def _named(self, people: Iterable[Learner]) -> list[dict[str, Any]]:
        """Of those who have chosen a nickname the ones who reported last, by name, and how many exercises they have
        passed: no ranking, and no more than the page has room for."""
        latest = sorted((p for p in people if p.nickname), key=lambda p: -p.seen)[:MOST_NAMED]
        rows = [(p.nickname, sum(self.course.is_passed(id, w) for id, w in p.works.items())) for p in latest]
        return [{"nickname": n, "passed": k} for n, k in sorted(rows, key=lambda row: (row[0].casefold(), row[1]))]
