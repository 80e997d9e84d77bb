"""Which cases go wrong is told only where the sentence is true of all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockstep.checks.case import Case
from lockstep.checks.failing_cases import explain
from lockstep.checks.judge import Fault, _tried, crash
from lockstep.checks.observation import Failure, Seen

WORLD = Case(4, 0, None, {"numel": 8, "dtype": "float32"})
GROUP = Case(4, 0, (1, 3), {"numel": 8, "dtype": "float32"})
WHOLE_NUMBERS = Case(4, 0, None, {"numel": 8, "dtype": "int64"})


def ids(*failing: Case, passes: Callable[[Case], bool] = lambda control: True) -> list[str]:
    rows = [(case, case in failing) for case in (WORLD, GROUP, WHOLE_NUMBERS)]
    return [id for id, _ in explain(rows, passes)]


def test_a_group_alone_or_whole_numbers_alone() -> None:
    assert ids(GROUP) == ["ignores-group"]
    assert ids(WHOLE_NUMBERS) == ["only-floats"]


def test_it_is_not_right_for_the_whole_world_where_whole_numbers_fail_there() -> None:
    assert ids(GROUP, WHOLE_NUMBERS) == []


def case(ranks: int, numel: int, **more: object) -> Case:
    return Case(ranks, 0, None, {"numel": numel, "dtype": "float32", **more})


def test_a_pattern_is_told_only_if_a_control_passes_that_differs_in_nothing_else() -> None:
    """ "It is right for two ranks" was said of answers that failed with more than ten elements."""
    small, large = case(2, 8), case(4, 16)
    for right, told in ((lambda c: c.ranks == 2, ["only-two-ranks"]), (lambda c: c.settings["numel"] < 10, [])):
        assert [id for id, _ in explain([(small, not right(small)), (large, not right(large))], right)] == told


CONTROLS = [
    ("fails-alone", [case(1, 5), case(2, 6)], lambda c: c.size > 1, case(2, 5)),
    ("only-two-ranks", [case(2, 8), case(5, 7, src=4)], lambda c: c.size == 2, case(2, 7, src=0)),
    ("only-powers-of-two", [case(2, 8), case(4, 8), case(5, 7)], lambda c: c.size in (2, 4), case(4, 7)),
    ("only-even-sizes", [case(4, 8), case(4, 11)], lambda c: c.settings["numel"] % 4 == 0, case(4, 8)),
    ("only-root-zero", [case(4, 8, dst=0), case(4, 8, dst=2)], lambda c: not c.settings["dst"], case(4, 8, dst=0)),
    ("ignores-group", [WORLD, GROUP], lambda c: not c.group, Case(2, 0, None, GROUP.settings)),
    ("only-floats", [WORLD, WHOLE_NUMBERS], lambda c: c.settings["dtype"] == "float32", WORLD),
]


@pytest.mark.parametrize(
    ("id", "cases", "right", "control"), CONTROLS, ids=lambda value: value if str(value) == value else ""
)
def test_a_control_takes_away_the_trait_and_nothing_else(
    id: str, cases: list[Case], right: Callable[[Case], bool], control: Case
) -> None:
    tried: list[Case] = []
    assert [i for i, _ in explain([(c, not right(c)) for c in cases], lambda c: not tried.append(c))] == [id]
    assert tried == [control]
    assert right(control)


def test_a_case_that_ran_out_of_time_is_no_evidence() -> None:
    """On a busy machine a right answer was "right for the whole world and wrong for a group", whose case was slow."""
    late = Seen(GROUP, failure=Failure("TimeLimit", "The run did not end within 2 s."))
    wrong = Fault("wrong-values", "")
    assert _tried([(Seen(WORLD), None), (late, crash(late)), (Seen(WHOLE_NUMBERS), wrong)]) == [
        (WORLD, False),
        (WHOLE_NUMBERS, True),
    ]
