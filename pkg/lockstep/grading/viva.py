"""``lockstep grade LAB --viva``: two questions for each learner's oral examination, about their own runs, with answers.

They are drawn with the student's name as the seed: the same ones every time. The run is the one that the learner's page
shows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lockstep.checks.wording import printable
from lockstep.grading.grade_submission import Result
from lockstep.grading.viva_questions import Question

EACH = 2  # questions for a learner


@dataclass(frozen=True)
class Viva:
    """What to ask ``student``: fewer than two, or nothing, where no run of theirs shows enough."""

    student: str
    questions: Sequence[Question]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def viva(results: Mapping[str, Result]) -> list[Viva]:
    """What to ask each student, in their order: about two exercises, and of two kinds, where there are."""
    return [Viva(student, _drawn(student, results[student])) for student in sorted(results)]


def _drawn(student: str, result: Result) -> list[Question]:
    left = [(name, Question(**q)) for name, one in result.exercises.items() for q in one.questions]
    random.Random(student).shuffle(left)
    drawn: list[tuple[str, Question]] = []
    while left and len(drawn) < EACH:
        names, kinds = {name for name, _ in drawn}, {question.kind for _, question in drawn}
        left.sort(key=lambda one: (one[0] in names) + (one[1].kind in kinds))  # else in the order that was drawn
        drawn.append(left.pop(0))
    return [question for _, question in drawn]


def text(vivas: Sequence[Viva], lab: str, messages: bool = True) -> str:
    """``messages``: whether an exercise of the lab sends any, as those of its first units do not."""
    if not messages:
        return f"No exercise of {lab} sends messages: ask about the answers themselves."
    return printable("\n".join(_lines(vivas, lab)))


def _lines(vivas: Sequence[Viva], lab: str) -> Iterator[str]:
    if not any(one.questions for one in vivas):
        yield f"Nobody's run of {lab} sends a message and comes to its end: ask about the answers themselves."
        yield "What an older Lockstep has graded has no questions: `--again` grades it once more."
        return
    for one in vivas:
        yield one.student
        for number, asked in enumerate(one.questions, 1):
            yield f"  {number}. {asked.question}"
            yield f"     {asked.answer}"
        if not one.questions:
            yield "  No run of theirs sends a message and comes to its end: ask about their answer itself."
