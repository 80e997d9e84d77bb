"""Ten wrong programs and two right ones: a test tells them apart, and a loss doesn't."""

from __future__ import annotations

import pytest
import torch

from lockstep import run
from lockstep.models import GPT
from lockstep.tensor_parallel.bugs import RIGHT, STEPS, WRONG, losses_table, serial, train
from lockstep.tensor_parallel.proof import is_right
from lockstep.tensor_parallel.trainings import SIZES

SIZE = SIZES | {"layers": 1, "width": 12, "vocabulary": 16, "context": 6, "dtype": torch.float64}


@pytest.mark.parametrize("name", RIGHT)
def test_right_ones_pass(name: str) -> None:
    assert is_right(RIGHT[name], serial)


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
    assert in_the_loss == {"qkv_at_even_places", "nonlinearity_first", "first_token_for_others"}
    assert in_gradients == {"no_f", "g_both_ways", "norms_on_rank_0"}
    assert [name for name, (loss, gradients) in two.items() if loss and gradients] == [
        "bias_in_the_sum", "two_ranks", "no_remainder", "whole_world", *RIGHT,
    ]  # fmt: skip


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
