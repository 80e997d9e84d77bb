"""Ten wrong programs and two right ones: a test tells them apart, and a loss doesn't."""

from __future__ import annotations

from functools import partial

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.experiments.tensor_parallel.trainings import SIZES
from lockstep.models import GPT
from lockstep.tensor_parallel.bug_test import is_right
from lockstep.tensor_parallel.bugs import RIGHT, STEPS, WRONG, losses_table, serial, train

SIZE = SIZES | {"layers": 1, "width": 12, "vocabulary": 16, "context": 6, "dtype": torch.float64}


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_right_ones_pass(name: str) -> None:
    assert is_right(RIGHT[name], serial)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_ones_are_found(name: str) -> None:
    assert not is_right(WRONG[name], serial)


def as_a_beginner_looks(name: str) -> tuple[bool, bool]:
    """All ranks, sizes that divide, a new model: whether its loss and its gradients are those of one rank."""
    model, drawn = GPT(**SIZE), torch.Generator().manual_seed(0)
    tokens = torch.randint(16, (2, 7), generator=drawn)
    parallel = {**WRONG, **RIGHT}[name]
    loss, gradients = parallel(model, tokens[:, :-1], tokens[:, 1:], None)
    wanted, others = serial(model, tokens[:, :-1], tokens[:, 1:])
    return torch.allclose(loss, wanted), all(torch.allclose(gradients[name], other) for name, other in others.items())


@pytest.mark.slow
def test_where_each_is_seen() -> None:
    two = {name: run(as_a_beginner_looks, name, ranks=2, on="dgx-a100").values[1] for name in [*WRONG, *RIGHT]}
    in_the_loss = {name for name, (loss, _) in two.items() if not loss}
    in_gradients = {name for name, (loss, gradients) in two.items() if loss and not gradients}
    assert in_the_loss == {"qkv_at_even_places", "first_token_for_others"}
    assert in_gradients == {"no_f", "in_order_of_ranks", "eps_forgotten", "norms_on_rank_0"}
    assert [name for name, (loss, gradients) in two.items() if loss and gradients] == [
        "bias_in_the_sum", "two_ranks", "no_remainder", "whole_world", *RIGHT,
    ]  # fmt: skip


def gradients_of_three(name: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """A program's gradients beside those of one rank, of a model whose numbers aren't those of a new one."""
    model, drawn = GPT(**SIZE | {"width": 20}), torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=drawn, dtype=torch.float64) / 10
    tokens = torch.randint(16, (2, 7), generator=drawn)
    wanted, found = (
        parallel(model, tokens[:, :-1], tokens[:, 1:])[1]
        for parallel in (serial, partial(WRONG[name], group=dist.group.WORLD))
    )
    return [(found[name], wanted[name]) for name in wanted]


@pytest.mark.slow
def test_one_has_right_norms_and_sums() -> None:
    """A test that compared norms, or sums, found all ten."""
    pairs = run(gradients_of_three, "in_order_of_ranks", ranks=3, on="dgx-a100").values[2]
    assert not all(torch.allclose(a, b) for a, b in pairs)
    assert all(torch.allclose(a.norm(), b.norm(), rtol=1e-12) for a, b in pairs)
    assert all(torch.allclose(a.sum(0), b.sum(0), rtol=1e-9, atol=1e-12) for a, b in pairs)


def test_one_is_off_by_little_and_by_more_than_rounding() -> None:
    """A test with a tolerance of a thousandth found all ten."""
    pairs = run(gradients_of_three, "eps_forgotten", ranks=3, on="dgx-a100").values[2]
    assert 1e-6 < max(float((a - b).abs().max()) for a, b in pairs) < 1e-4
    assert not all(torch.allclose(a, b) for a, b in pairs)


@pytest.mark.parametrize(
    "name", ["no_f", *(pytest.param(n, marks=pytest.mark.slow) for n in [*WRONG, *RIGHT] if n != "no_f")]
)
def test_all_losses_fall(name: str) -> None:
    losses = run(train, {**WRONG, **RIGHT}[name], ranks=4, on="dgx-a100").values[0]
    assert len(losses) == STEPS
    assert sum(losses[-5:]) / 5 < losses[0] - 1


@pytest.mark.slow
def test_the_table_names_them_all() -> None:
    assert len(losses_table().rows) == 12
