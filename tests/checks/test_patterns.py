"""Which cases go wrong is told only where the sentence is true of all of them."""

from __future__ import annotations

from lockstep.checks.case import Case
from lockstep.checks.failing_cases import explain

WORLD = Case(4, 0, None, {"numel": 8, "dtype": "float32"})
GROUP = Case(4, 0, (1, 3), {"numel": 8, "dtype": "float32"})
WHOLE_NUMBERS = Case(4, 0, None, {"numel": 8, "dtype": "int64"})


def ids(*failing: Case) -> list[str]:
    return [id for id, _ in explain([(case, case in failing) for case in (WORLD, GROUP, WHOLE_NUMBERS)])]


def test_a_group_alone_or_whole_numbers_alone() -> None:
    assert ids(GROUP) == ["ignores-group"]
    assert ids(WHOLE_NUMBERS) == ["only-floats"]


def test_it_is_not_right_for_the_whole_world_where_whole_numbers_fail_there() -> None:
    assert ids(GROUP, WHOLE_NUMBERS) == []
