"""A list of gradients has more values than there are names for their places."""

from __future__ import annotations

from lockstep.checks.exercise import find
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import examine


def test_a_wrong_value_beyond_the_fifth_is_told_by_its_number() -> None:
    """Found: the sixth gradient was looked up among five names, and the answer could not be checked."""
    exercise = find("all_reduce_sgd.bucketed_ddp")
    case = exercise.cases(1, 3)[0]
    assert exercise.values.wanted is not None
    (right,) = exercise.values.wanted(case)
    held = [*right[:6], right[6] + 1, *right[7:]]
    fault = examine(exercise)(Seen(case, returned=(held,), arguments=((),)))
    assert fault is not None
    assert fault.message.endswith(f"This is value 7 of {len(right)} returned; the other {len(right) - 1} are right.")
    assert examine(exercise)(Seen(case, returned=(list(right),), arguments=((),))) is None
