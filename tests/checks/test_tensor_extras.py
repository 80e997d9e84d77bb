"""The exercises of unit 10 that choose and test: what their judges tell, without a run."""

from __future__ import annotations

import pytest

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.nameless import NAME
from lockstep.checks.observation import Seen
from lockstep.exercises.tensor_parallel.catch_the_bug.exercise import BUGS, PROGRAMS
from lockstep.exercises.tensor_parallel.place_splits.exercise import FOUR, MLP
from lockstep.exercises.tensor_parallel.sizes import normal, of, sized
from lockstep.tensor_parallel.bugs import RIGHT, WRONG
from lockstep.tensor_parallel.splits import beside_the_best


def seen(id: str, answers: list[object]) -> Seen:
    case = next(case for case in BUGS.cases(1, 0) if case.settings["candidates"] == id)
    return Seen(case, returned=(answers,))


def test_all_twelve_programs_are_tried_once() -> None:
    assert sorted(name for programs in PROGRAMS.values() for name in programs) == sorted([*RIGHT, *WRONG])
    assert set(PROGRAMS["rejects-right-answers"]) == set(RIGHT)


def test_who_rejects_both_right_programs_earns_nothing() -> None:
    fault = BUGS.examine(seen("rejects-right-answers", [False, False]))
    assert fault is not None
    assert fault.earned + len(PROGRAMS) - 1 < 0


def test_who_rejects_one_right_program_loses_this_case_alone() -> None:
    fault = BUGS.examine(seen("rejects-right-answers", [True, False]))
    assert fault is not None
    assert fault.earned == 0
    assert "1/K of a bias" in fault.message


def test_the_first_program_that_is_missed_is_told() -> None:
    fault = BUGS.examine(seen("misses-some-sizes", [False, True]))
    assert fault is not None
    assert (fault.misconception, fault.earned) == ("misses-some-sizes", 0)
    assert "drops what is left over" in fault.message


def test_a_run_that_fails_is_to_be_caught() -> None:
    fault = BUGS.examine(seen("misses-groups", [{"error": "Deadlock", "told": "Deadlock: rank 1 waits"}]))
    assert fault is not None
    assert fault.misconception == "lets-errors-through"
    assert "What fails isn't right" in fault.message


def test_a_run_that_fails_with_a_right_program_is_the_tests_own_mistake() -> None:
    """It was told to return False for what fails."""
    own = {"error": "RankRaised", "told": "rank 0 raised NameError: name 'los' is not defined"}
    fault = BUGS.examine(seen("rejects-right-answers", [own, own]))
    assert fault is not None
    assert fault.message.endswith(
        "your test fails in run(): rank 0 raised NameError: name 'los' is not defined. Mend it."
    )


def test_who_rejects_all_right_programs_may_have_caught_an_error_of_its_own() -> None:
    """It was told of rounding alone."""
    all_rejected, one = (BUGS.examine(seen("rejects-right-answers", [first, False])) for first in (False, True))
    assert all_rejected is not None
    assert one is not None
    assert all_rejected.message.endswith("Does it catch an error of its own, or compare rounded sums?")
    assert one.message.endswith("sums round differently.")


def test_programs_have_names_that_say_nothing() -> None:
    exercise = find("tensor_parallel.catch_the_bug")
    names = {call[0].name for case in exercise.cases(1, 0) for call in exercise.inputs(case, 0)}
    assert names == {NAME}


@pytest.mark.parametrize(
    ("splits", "told"),
    [
        (["columns", "rows", "whole", "whole"], ""),
        (["columns", "whole", "rows", "whole"], "layer 1 isn’t cut by rows, and features lie in parts since layer 0"),
        (["rows", "whole", "whole", "whole"], "layer 0 is cut by rows, and no layer by columns leads to it"),
        (["whole", "whole", "whole", "columns"], "layer 3 is cut by columns, and no layer by rows follows"),
        (["whole"] * 4, "a rank holds 260 numbers, and has room for 195"),
        (["columns", "rows", "columns", "rows"], "that costs 4 all-reduces, and 2 are enough"),
    ],
)
def test_what_is_told_of_splits(splits: list[str], told: str) -> None:
    assert beside_the_best(FOUR, 2, 195, splits) == told


def test_only_linear_layers_are_cut() -> None:
    assert beside_the_best(MLP, 2, 88, ["whole", "columns", "rows", "whole"]) == (
        "layer 2 is pointwise, and only linear layers are cut"
    )


def test_exactly_full_fits_for_any_number_of_ranks() -> None:
    thirds = [("linear", 1), ("linear", 1), ("linear", 7), ("linear", 6)]
    assert beside_the_best(thirds, 3, 5, ["columns", "rows"] * 2) == ""


def test_a_case_tells_its_sizes_and_draws_the_same_numbers_on_all_ranks() -> None:
    cases = sized("n m", {4: [(2, 7), (1, 3)]}, (3, 5))(4, 0)
    assert [of(case, "n m") for case in cases] == [(2, 7), (1, 3), (3, 5)]
    assert "n = 2, m = 7" in str(cases[0])
    assert cases[2].group is not None
    once, again = (normal(cases[0], (2, 7))[0] for _ in range(2))
    assert once.equal(again)
    assert not once.equal(normal(Case(4, 1), (2, 7))[0])
