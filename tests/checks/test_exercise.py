"""An Exercise had 45 flat fields, and nobody found the one that was needed: now it has a small core and named parts."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from lockstep.checks.exercise import Comparison, Contributions, Costs, Exercise, Feedback, Run, Values

PARTS = (Values, Costs, Contributions, Comparison, Run, Feedback)


def test_an_exercise_has_a_small_core_and_its_parts_are_small() -> None:
    parts = {part.__name__.lower() for part in PARTS}
    assert parts < {field.name for field in fields(Exercise)}
    assert len([field for field in fields(Exercise) if field.name not in parts]) <= 15
    assert max(len(fields(part)) for part in PARTS) <= 12


def test_each_part_may_be_left_out_and_says_in_a_line_what_it_is() -> None:
    for part in PARTS:
        assert is_dataclass(part())
        assert part.__doc__
        assert "\n" not in part.__doc__
