"""An observation is plain data, and each case has its own."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy
import torch

from lockstep import checks
from lockstep.checks.observe import observe_reference
from lockstep.checks.plain import Other, plain


def test_values_become_plain() -> None:
    assert plain(numpy.float64(1.5)) == 1.5
    assert plain(numpy.array([1, 2])) == [1, 2]
    assert plain([Fraction(1, 2), Decimal("0.25")]) == [0.5, 0.25]  # right answers were no numbers
    assert plain((1, None, "a")) == [1, None, "a"]
    assert plain({1: 2}) == Other("dict", "{1: 2}")
    assert plain(torch.ones(2, dtype=torch.complex64)).type == "Tensor"
    nested = plain([[[[[1]]]]])
    assert isinstance(nested[0][0][0], Other)


def test_each_case_has_its_own_part_of_a_shared_run() -> None:
    exercise = checks.find("communication.ring_all_reduce")
    for seen in observe_reference(exercise):
        size = seen.case.size
        assert not seen.trace.of_kind("broadcast")
        assert all(
            seen.trace.sent(r).nbytes > 0 for r in seen.case.members if size > 1 and seen.case.settings["numel"] > size
        )
        assert min((e.start for e in seen.trace), default=0.0) == 0.0
        assert {e.rank for e in seen.trace.communication} <= set(seen.case.members)
