"""What a class got wrong: its answers to each exercise, grouped by their feedback, the most frequent first.

A teacher sees what to explain once more, and which answers were only shown what is wrong with their values.
One of these, with a sentence for its author, becomes a known wrong answer: see ``checks/known.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lockstep.checks.judge import OF_VALUES
from lockstep.checks.wording import printable
from lockstep.grading.grade_submission import Result

NOT_WRITTEN = "not-written"
SHOWN = 6  # students of a group


@dataclass(frozen=True)
class Group:
    """The students whose first finding was ``misconception``. ``general``: whether that says no more than what is wrong
    with the values. ``message``: as one of them read it."""

    misconception: str
    general: bool
    students: Sequence[str]
    message: str


@dataclass(frozen=True)
class Answers:
    """To one exercise. Those that could not be graded are not among them."""

    exercise: str
    right: int
    groups: Sequence[Group]

    @property
    def number(self) -> int:
        return self.right + sum(len(g.students) for g in self.groups)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def class_answers(topic: str, names: Sequence[str], results: Mapping[str, Result]) -> list[Answers]:
    """Those to each exercise of ``names``, in their order."""
    return [_of_exercise(f"{topic}.{name}", name, results) for name in names]


def _of_exercise(exercise: str, name: str, results: Mapping[str, Result]) -> Answers:
    right, told = 0, defaultdict(list)
    for student, result in sorted(results.items()):
        score: Mapping[str, Any] = result.exercises[name].score if name in result.exercises else {"verdict": "ungraded"}
        if score["verdict"] == "passed":
            right += 1
        elif score["verdict"] != "ungraded" and score["findings"]:
            first = score["findings"][0]
            told[first["misconception"]].append((student, first["message"]))
    groups = [Group(id, id in OF_VALUES, [student for student, _ in row], row[0][1]) for id, row in told.items()]
    return Answers(exercise, right, sorted(groups, key=lambda g: (-len(g.students), g.misconception)))


def left_out(results: Mapping[str, Result]) -> list[str]:
    """Who has no answer among them, and why: "bob (wrong format)"."""
    return [f"{student} ({results[student].status})" for student in sorted(results) if not results[student].exercises]


def table(answers: Sequence[Answers], lab: str, missing: Sequence[str] = ()) -> str:
    lines = [*_lines(answers, lab), *([f"\nNot among these: {', '.join(missing)}."] if missing else [])]
    return printable("\n".join(lines))


def _lines(answers: Sequence[Answers], lab: str) -> Iterator[str]:
    for one in answers:
        yield f"{one.exercise}: {one.right} of {one.number} right"
        for group in one.groups:
            more = f" and {len(group.students) - SHOWN} more" if len(group.students) > SHOWN else ""
            mark = "  general" if group.general else ""
            yield f"  {len(group.students):>3}  {group.misconception}{mark}: {', '.join(group.students[:SHOWN])}{more}"
            if group.misconception != NOT_WRITTEN:
                yield f"       {group.message.splitlines()[0]}"
    general = [one.exercise for one in answers for group in one.groups if group.general]
    if general:
        function = general[0].partition(".")[2]
        yield (
            "\nGeneral: told what is wrong with its values, and nothing of the mistake. Read one in grading/submitted; "
            f"if others may make it, save its function as course/{lab}/wrong/{function}/NAME.py with MISCONCEPTION and "
            "TELL, and `lockstep check "
            f"{general[0]} --wrong` tells whether it is recognised. (CONTRIBUTING.md has an example.)"
        )
