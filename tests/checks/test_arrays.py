"""What is told of a call that should have made an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from lockstep.checks.arrays import Arrays
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import UNGRADED, Rule, first
from lockstep.checks.observation import Seen
from lockstep.checks.observe import Ungraded

GIVEN = np.array([1.0, 2.0, 3.0])
DOUBLED = Arrays(lambda case: [(GIVEN, np.zeros(3))], lambda x, y: 2 * x, told="{0.size} numbers")


def told(result: Any, **evidence: Any) -> tuple[str, str] | None:
    row = {"name": "y", "result": result, "names": ["x", "y"], "arrays": [torch.tensor(GIVEN)], **evidence}
    fault = DOUBLED.examine(Seen(Case(1, 0), ([row],)))
    return fault and (fault.misconception, fault.message)


@pytest.mark.parametrize(("result", "misconception", "sentence"), [
    (None, "wrong-type", "it returns nothing (None); a NumPy array is wanted."),
    (torch.ones(2), "wrong-shape", "y has the shape (2,), not (3,)."),
    (torch.ones(3), "wrong-dtype", "y is of float32, not of float64."),
    (torch.tensor([2.0, 4.0, 5.0], dtype=torch.float64), "wrong-values", "y[2] is 5, not 6 (1 of 3 elements differ)."),
    (torch.tensor([2.0, 0.0, 6.0], dtype=torch.float64), "wrong-values", "y[1] is as it was, not 4 (1 of 3 elements "
     "differ)."),
])  # fmt: skip
def test_the_first_thing_wrong_is_told(result: Any, misconception: str, sentence: str) -> None:
    assert told(result) == (misconception, f"With 3 numbers: {sentence}")


def test_an_array_that_is_only_read_must_stay_as_it_is() -> None:
    right = torch.tensor(2 * GIVEN)
    assert told(right) is None
    assert told(right, arrays=[torch.zeros(3, dtype=torch.float64)]) == (
        "wrong-array",
        "With 3 numbers: it changes x, which is only to be read.",
    )


def test_the_first_rule_that_holds_of_any_evidence_is_told_with_its_numbers() -> None:
    rules = [
        Rule("many", lambda e: e["n"] > 3, "there are {n}"),
        Rule("some", lambda e: e["n"], "some: {n}", price=0.5),
    ]
    many, some = (first(rules, *({"n": n} for n in numbers)) for numbers in ((1, 4), (0, 2)))
    assert many is not None
    assert some is not None
    assert (many.misconception, many.message) == ("many", "there are 4")
    assert (some.misconception, some.message, some.price) == ("some", "some: 2", 0.5)
    assert first(rules, {"n": 0}) is None


def test_what_is_not_the_learners_fault_is_ungraded() -> None:
    with pytest.raises(Ungraded, match="This machine has 16 bits"):
        first([Rule(UNGRADED, lambda e: e["bits"] < 32, "This machine has {bits} bits.")], {"bits": 16})
