"""The concept inventory: twelve questions before a course and twelve after it, each with four choices.

They stand in ``questions.toml``. A wrong choice is what a known wrong answer of an exercise gives, so that it names a
misconception of the course. Choices are shuffled, always in the same way: a letter means the same for everybody.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from lockstep.reports.report import FORMS, QUESTIONS

LETTERS = "abcd"
NONE = "-"


@dataclass(frozen=True)
class Choice:
    """What one of the four says, the program that gives it, and the misconception that it names (none: it is right)."""

    says: str
    program: str
    misconception: str

    @property
    def is_right(self) -> bool:
        return not self.misconception


@dataclass(frozen=True)
class Question:
    """One question of a form. ``given`` is what the programs are called with, a list or a table of names. ``also``
    names an exercise of the second unit, and for some of the choices' programs the one of it that gives the same.
    """

    number: int
    concept: str
    units: tuple[int, ...]
    exercise: str
    also: tuple[str, Mapping[str, str]] | None
    text: str
    given: Any
    choices: tuple[Choice, ...]  # in the order of their letters

    @property
    def right(self) -> str:
        """The letter of the right choice."""
        return next(letter for letter, choice in zip(LETTERS, self.choices, strict=True) if choice.is_right)

    def choice(self, letter: str) -> Choice | None:
        """None for a question without an answer."""
        return None if letter == NONE else self.choices[LETTERS.index(letter)]


@cache
def questions(form: str) -> tuple[Question, ...]:
    """The twelve of a form, "before" or "after"."""
    read = tomllib.loads(files("lockstep.classroom").joinpath("questions.toml").read_text(encoding="utf-8"))
    made = tuple(_question(number, row, form) for number, row in enumerate(read["question"], 1))
    assert form in FORMS
    assert len(made) == QUESTIONS
    return made


def right(form: str, answers: str) -> list[bool]:
    """Which of the twelve were answered rightly."""
    return [answer == question.right for answer, question in zip(answers, questions(form), strict=True)]


def _question(number: int, row: dict[str, Any], form: str) -> Question:
    asked, unit = row[form], row.get("unit_of", "")
    pairs: Sequence[tuple[str, str]] = row["choices"]
    choices = [Choice(says + unit, *pair) for says, pair in zip(asked["says"], pairs, strict=True)]
    Random(f"{row['exercise']}/{form}").shuffle(choices)
    also = (row["also"]["exercise"], row["also"]["programs"]) if "also" in row else None
    units = tuple(row["units"])
    return Question(number, row["concept"], units, row["exercise"], also, asked["text"], asked["given"], tuple(choices))
