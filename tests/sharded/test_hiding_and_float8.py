"""Lesson 08's backward pass with and without hiding, and what its parameters weigh when they are gathered in float8."""

from __future__ import annotations

import pytest
import torch

from lockstep import run
from lockstep.experiments.fsdp import float8_gathers as float8
from lockstep.experiments.fsdp import hidden
from lockstep.experiments.fsdp.trainings import RANKS, SIZES
from lockstep.models import GPT, parameters_of


@pytest.mark.slow
def test_only_the_first_gather_and_the_last_reduce_scatter_are_waited_for() -> None:
    done = hidden.backward_run("both hidden")
    moving = [e for e in done.trace.of_rank(0) if e.kind != "compute"]
    assert [n for n, e in enumerate(moving) if e.wait > 0] == [0, len(moving) - 1]
    after = hidden.backward_run("each waited for at once")
    assert done.trace.counts() == after.trace.counts()
    exposed = sum(e.duration for e in moving)
    assert after.time - done.time == pytest.approx(exposed - moving[0].duration - moving[-1].duration, rel=0.01)


def test_shapes_count_what_a_model_has() -> None:
    model = GPT(**SIZES)
    assert float8.SMALL.all == parameters_of(model)
    assert float8.SMALL.in_linears == sum(m.weight.numel() for m in float8.linears(model))


@pytest.mark.parametrize(("in_float8", "nbytes"), [(False, 2), (True, 1)])
def test_what_is_gathered_is_what_the_shapes_say(in_float8: bool, nbytes: int) -> None:
    found = float8.counted(in_float8)
    assert found.gathered == pytest.approx(float8.SMALL.gathered(nbytes))
    assert found.all_reduces == in_float8 * 2 * len(float8.linears(GPT(**SIZES)))
    reduced = 3  # (K - 1)/K of 4 bytes
    assert found.sent == pytest.approx(0.75 * found.gathered + reduced, abs=0.01)


def test_a_gathered_weight_is_the_weight_but_for_rounding() -> None:
    """e4m3 has three bits behind the leading one: half of the last one is 1/16 of a number."""
    plain, rounded = (run(float8.step, way, ranks=RANKS, on="dgx-a100").values for way in (False, True))
    assert all(torch.allclose(a, b, atol=0.02) for a, b in zip(plain, rounded, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(plain, rounded, strict=True))
