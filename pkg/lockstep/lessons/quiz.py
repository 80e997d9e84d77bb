"""quiz(): a short question with a checked answer. The browser never gets the answer before it is given or asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import traitlets

from lockstep.errors import UsageError
from lockstep.lessons.behind import QuizAnswer
from lockstep.lessons.session import current
from lockstep.lessons.words import Words, module
from lockstep.show.predict import parse

UNKNOWN = "Not yet: it is another number. Work it out once more, or have the answer shown."


class Quiz(Words):
    """A field or one button for each choice; what is said about an answer comes from Python."""

    _esm = module("quiz")
    question = traitlets.Unicode().tag(sync=True)
    unit = traitlets.Unicode("").tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
    said = traitlets.Unicode("").tag(sync=True)
    offer = traitlets.Bool(False).tag(sync=True)  # of the answer, after the first try

    def __init__(self, right: QuizAnswer) -> None:
        self._right = right
        super().__init__(question=right.question, unit=right.unit, choices=list(right.choices))
        self.on_msg(self._hear)

    def answer(self, given: str) -> None:
        """What Enter and the buttons do: say whether ``given`` is right, and if not, what it is."""
        try:
            value = given if self._right.choices else parse(given, self.unit)
        except UsageError as error:
            self.said = error.message
            return
        right = close(value, self._right.answer, self._right.within)
        with self.hold_sync():
            self.said, self.offer = verdict(self._right, value), not right

    def tell(self) -> None:
        """The answer, for whoever wants to see it."""
        with self.hold_sync():
            self.said, self.offer = told(self._right), False

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        if not isinstance(content, dict):
            return
        if content.get("tell") is True:
            self.tell()
        elif isinstance(content.get("given"), str):
            self.answer(content["given"])

    def paragraphs(self) -> list[str]:
        return [self.question, *(f"– {choice}" for choice in self.choices), *([self.said] if self.said else [])]


def quiz(name: str, question: str = "", unit: str = "", choices: Sequence[str] = ()) -> Quiz:
    """Ask the lesson's question ``name``.

    The build leaves ``question``, ``unit`` and ``choices`` in the notebook, to be read without a kernel; what counts is
    behind the lesson. Raises UsageError if the lesson has no such question.
    """
    session = current()
    if name not in session.behind.quizzes:
        raise UsageError(f"The lesson has no question {name!r}.", "Run the lesson's first cell, then this one.")
    asked = Quiz(session.behind.quizzes[name])
    if session.all_open:
        asked.tell()
    return asked


def verdict(right: QuizAnswer, value: float | str) -> str:
    """What is said about an answer."""
    if close(value, right.answer, right.within):
        return f"Right. {right.because}"
    return next((f"Not yet. {said}" for wrong, said in right.wrong if close(value, wrong, right.within)), UNKNOWN)


def told(right: QuizAnswer) -> str:
    number = right.answer if isinstance(right.answer, str) else f"{right.answer:.12g} {right.unit}".rstrip()
    return f"The answer is {number}. {right.because}"


def close(one: float | str, other: float | str, within: float) -> bool:
    """Whether two answers count as the same."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=within, abs_tol=1e-12)
