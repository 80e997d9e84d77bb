"""quiz(): a short question with a checked answer. The browser gets the answer only when it was given or asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import traitlets

from lockstep import progress
from lockstep.errors import UsageError
from lockstep.lessons.behind import QuizAnswer
from lockstep.lessons.session import Session, current
from lockstep.lessons.words import Words, module
from lockstep.show.prediction_field import parse

UNKNOWN = "Not yet: it is another number. Work it out once more, or have the answer shown."


class Quiz(Words):
    """A field or one button for each choice; what is said about an answer comes from Python, which keeps it."""

    _esm = module("quiz")
    question = traitlets.Unicode().tag(sync=True)
    unit = traitlets.Unicode("").tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
    given = traitlets.Unicode("").tag(sync=True)  # the last answer, as it was given
    said = traitlets.Unicode("").tag(sync=True)
    offer = traitlets.Bool(False).tag(sync=True)  # of the answer, after the first try

    def __init__(self, right: QuizAnswer, session: Session, name: str) -> None:
        self._right, self.session, self.known_as = right, session, name
        super().__init__(question=right.question, unit=right.unit, choices=list(right.choices))
        self.on_msg(self._hear)
        if before := progress.answers().get(session.key(name)):
            self._judge(before.given) if before.given else self._tell()

    def answer(self, given: str) -> None:
        """What Enter and the buttons do: say whether ``given`` is right, and if not, what it is."""
        if self._judge(given):
            progress.record_answer(self.session.key(self.known_as), given, self.state == "right")
            self.keep()

    def tell(self) -> None:
        """Show the answer to a learner who asks for it."""
        self._tell()
        progress.record_answer(self.session.key(self.known_as), "", False)
        self.keep()

    def _judge(self, given: str) -> bool:
        """Say what is to be said; whether ``given`` is an answer at all."""
        try:
            value = given if self._right.choices else parse(given, self.unit)
        except UsageError as error:
            self.said, self.state = error.message, ""
            return False
        right = close(value, self._right.answer, self._right.within)
        with self.hold_sync():
            self.given, self.state = given, "right" if right else "wrong"
            self.said, self.offer = verdict(self._right, value), not right
        return True

    def _tell(self) -> None:
        with self.hold_sync():
            self.given, self.said, self.state, self.offer = "", told(self._right), "told", False

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        if not isinstance(content, dict):
            return
        if content.get("tell") is True:
            self.tell()
        elif isinstance(content.get("given"), str):
            self.answer(content["given"])

    def paragraphs(self) -> list[str]:
        choices = [f"{'●' if choice == self.given else '○'} {choice}" for choice in self.choices]
        mine = [f"Your answer: {self.given}"] if self.given and not self.choices else []
        return [self.question, *choices, *mine, *([self.said] if self.said else [])]

    def judged(self) -> str:
        return self.said


def quiz(name: str, question: str = "", unit: str = "", choices: Sequence[str] = ()) -> Quiz:
    """Ask the lesson's question ``name``.

    The build leaves ``question``, ``unit`` and ``choices`` in the notebook, to be read without a kernel; what counts is
    behind the lesson. Raises UsageError if the lesson has no such question.
    """
    session = current()
    if name not in session.behind.quizzes:
        raise UsageError(f"The lesson has no question {name!r}.", "Run the lesson's first cell, then this one.")
    asked = Quiz(session.behind.quizzes[name], session, name)
    if session.all_open and not asked.said:
        asked._tell()
    return asked


def verdict(right: QuizAnswer, value: float | str) -> str:
    """What is said about an answer."""
    if close(value, right.answer, right.within):
        return f"Right. {right.because}"
    return next((f"Not yet. {said}" for wrong, said in right.wrong if close(value, wrong, right.within)), UNKNOWN)


def told(right: QuizAnswer) -> str:
    is_word = right.unit.isalpha() and len(right.unit) > 3  # not "s", nor "MB/s"
    unit = right.unit.removesuffix("s") if right.answer == 1 and is_word else right.unit
    number = right.answer if isinstance(right.answer, str) else f"{right.answer:,.12g} {unit}".rstrip()
    return f"The answer is {number}. {right.because}"


def close(one: float | str, other: float | str, within: float) -> bool:
    """Whether two answers count as the same."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=within, abs_tol=1e-12)
