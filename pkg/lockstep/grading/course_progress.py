"""What a learner has done of each lesson: numbers predicted, lines written, questions answered; and what came out.

It reads what the build took out of the lessons as plain JSON: ``lockstep.lessons`` itself imports widgets, and the
front page's map is the first thing that a learner runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lockstep import progress
from lockstep.progress import Outcome

BEHIND = Path(__file__).parents[1] / "lessons"
NEAR = 2.0  # a prediction is near if it misses by this factor at most


@dataclass(frozen=True)
class Asked:
    """The names that a lesson asks for, without those of more.py."""

    predictions: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    quizzes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Guess:
    """A prediction that was committed, and what came out of it (an empty Outcome where that was not looked at)."""

    name: str
    value: float
    unit: str
    when: str
    outcome: Outcome

    @property
    def has_come_out(self) -> bool:
        return self.outcome != Outcome()

    @property
    def miss(self) -> float:
        """The factor by which it misses; see ``Outcome.miss``."""
        return self.outcome.miss(self.value)


@dataclass(frozen=True)
class LessonDone:
    """``done``: predicted, written, or answered right. ``shown``: opened without that. ``of``: all that is asked."""

    done: int = 0
    shown: int = 0
    of: int = 0
    guesses: tuple[Guess, ...] = ()
    when: str = ""  # a number was last committed, or a question answered, in ISO 8601

    @property
    def begun(self) -> bool:
        return self.done + self.shown > 0

    @property
    def finished(self) -> bool:
        return self.of > 0 and self.done + self.shown >= self.of


def lesson_done(topic: str) -> LessonDone:
    """What is done of the lesson of ``topic``; of none, nothing is asked."""
    names = asked(topic)
    opened, answers, guesses = progress.opened(), progress.answers(), tuple(_guesses(topic, names))
    key = f"{topic}.{{}}".format
    solved = [name for name in names.turns if opened.get(key(name)) == "solved"]
    right = [name for name in names.quizzes if key(name) in answers and answers[key(name)].right]
    told = [name for name in names.quizzes if key(name) in answers and not answers[key(name)].given]
    committed = {guess.name for guess in guesses}
    shown = [name for name in names.predictions if key(name) in opened and name not in committed]
    shown += [name for name in names.turns if opened.get(key(name)) == "shown"]
    shown += [name for name in told if name not in right]
    of = len(names.predictions) + len(names.turns) + len(names.quizzes)
    times = [guess.when for guess in guesses] + [answers[key(n)].when for n in names.quizzes if key(n) in answers]
    when = max(times, default="")
    return LessonDone(len(guesses) + len(solved) + len(right), len(shown), of, guesses, when)


def _guesses(topic: str, names: Asked) -> Iterator[Guess]:
    predictions, outcomes = progress.predictions(), progress.outcomes()
    for name in names.predictions:
        if made := predictions.get(f"{topic}.{name}"):
            outcome = outcomes.get(f"{topic}.{name}", Outcome())
            yield Guess(name, made.value, made.unit, made.when, outcome)


@cache
def asked(topic: str) -> Asked:
    """What the lesson of ``topic`` asks for, in its order."""
    path = BEHIND / f"{topic}.json"
    if not path.is_file():
        return Asked()
    behind = json.loads(path.read_text(encoding="utf-8"))
    parts = [[n for n in behind[part] if n not in behind["further"]] for part in ("predictions", "turns", "quizzes")]
    return Asked(*map(tuple, parts))


def nearness(guesses: list[Guess]) -> str:
    """In a sentence how many of the predictions came near; "" where nothing has come out yet."""
    out = [guess for guess in guesses if guess.has_come_out]
    near = sum(guess.miss <= NEAR for guess in out)
    return f"Within a factor of {NEAR:g} in {near} of {len(out)} predictions." if out else ""
