"""What make_grid's check says, in words that a learner can use."""

from __future__ import annotations

from lockstep.checks.plain import plain
from lockstep.exercises.hybrid.make_grid.exercise import _parting
from lockstep.hybrid.mesh import make_grid


def test_a_range_in_place_of_a_list_is_called_a_range() -> None:
    """A learner read: in your answer it is Other(type='range', text='range(0, 2)')."""
    wanted = make_grid(4, [2, 2])
    assert wanted is not None
    answer = plain([[range(0, 2), range(2, 4)], [range(0, 4, 2), range(1, 4, 2)]])
    assert _parting(answer, wanted) == "on axis 0, group 0 is [0, 1]; in your answer it is a range."
