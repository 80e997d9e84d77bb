"""What an exercise gives and wants is computed once for a case, as long as nobody asks another exercise."""

from __future__ import annotations

from lockstep import checks
from lockstep.checks.case import Case
from lockstep.checks.once import Once


def test_what_a_case_gives_is_made_once_and_kept_until_another_exercise_is_asked() -> None:
    made: list[tuple[int, ...]] = []

    def make(case: Case, *rank: int) -> list[int]:
        made.append((case.seed, *rank))
        return [case.seed, *rank]

    inputs, wanted, others = Once(make, "a"), Once(lambda case: "all", "a"), Once(make, "b")
    case, again, later = Case(2, 7), Case(2, 7), Case(2, 7, settings={"numel": 3})
    assert inputs(case, 0) is inputs(again, 0)
    assert wanted(case) == "all"
    assert inputs(case, 1) == [7, 1]
    assert inputs(later, 0) == [7, 0]
    assert made == [(7, 0), (7, 1), (7, 0)]
    others(case, 0)
    inputs(case, 0)
    assert made[3:] == [(7, 0), (7, 0)]


def test_a_second_check_makes_no_inputs_anew() -> None:
    """An answer is judged by the same numbers, however often it is judged."""
    exercise = checks.find("communication.tree_reduce")
    case = exercise.cases(3, 5)[0]
    given = exercise.inputs(case, 1)
    before = [tensor.clone() for tensor in given if hasattr(tensor, "clone")]
    assert checks.check_file(exercise.id, next(exercise.right.glob("[!_]*.py")), keep=False).passed
    assert exercise.inputs(case, 1) is given
    assert all((a == b).all() for a, b in zip(given, before, strict=False))
