"""A program that a learner's test is tried on carries nothing that says whether it is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cloudpickle
import pytest

from lockstep import checks
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.load import FromFile
from lockstep.checks.nameless import nameless
from lockstep.tensor_parallel.bugs import RIGHT, WRONG

CATCHES = [e for e in checks.exercises() if e.kind == "catch"]
TEXT = '''
"""Words."""
LIMIT: int = 3  # a comment
UNUSED = "who needs it"

class Doubled:
    """More words."""
    def twice(self, x: int) -> int:
        """And more."""
        return 2 * x

def answer(x: int, limit: int = LIMIT) -> int:
    """The learner thought."""
    return Doubled().twice(x) if x < limit else x
'''


def test_a_text_keeps_what_it_does_and_no_more() -> None:
    bare = nameless(TEXT, "answer")
    space: dict[str, Any] = {}
    exec(bare, space)
    assert [space["tried"](n) for n in (1, 2, 3)] == [2, 4, 3]
    for word in ("Words", "words", "more", "learner", "LIMIT", "UNUSED", "Doubled", "answer", "comment", "int"):
        assert word not in bare


def programs(exercise: Exercise) -> Iterator[FromFile]:
    for case in exercise.cases(1, 0):
        for given in exercise.inputs(case, 0):
            yield given[0]


def labels(exercise: Exercise) -> set[str]:
    """What the judge calls them, and the classes of which they are made."""
    names = {name for case in exercise.cases(1, 0) for name in answers(exercise, case)}
    names |= {name.partition("/")[2] for name in names} | {"right/", "wrong/", "MISCONCEPTION", "TELL"}
    return {n for n in names if len(n) > 4 and n != "maximum"} | {
        "BiasInParts",
        "BiasInTheSum",
        "NoF",
        "EpsForgotten",
        "bugs.py",
    }


def answers(exercise: Exercise, case: Case) -> list[str]:
    candidates: Any = exercise.values.examine.__self__  # type: ignore[union-attr]
    return list(candidates.answers[case.settings["candidates"]])


@pytest.mark.parametrize("exercise", CATCHES, ids=lambda e: e.function)
def test_what_travels_says_nothing(exercise: Exercise) -> None:
    for program in programs(exercise):
        travels = cloudpickle.dumps(program)
        assert not [label for label in labels(exercise) if label.encode() in travels]


def test_all_bugs_are_top_level_names() -> None:
    from lockstep.tensor_parallel import bugs

    for name, program in {**RIGHT, **WRONG}.items():
        assert getattr(bugs, name) is program
