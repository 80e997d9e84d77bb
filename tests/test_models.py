"""Small models: the same bits everywhere, layer by layer, and nobody's random numbers are used up."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from lockstep.datasets import library_text, text_batch
from lockstep.errors import UsageError
from lockstep.models import (
    GPT,
    Block,
    batch_normed,
    linear,
    mlp,
    next_token_loss,
    parameters_of,
    small_convnet,
    tied,
)
from lockstep.worlds import run

BUILT: dict[str, tuple[Callable[..., nn.Module], tuple[int, ...], int, tuple[int, ...]]] = {
    "mlp": (lambda **how: mlp([4, 3, 2], **how), (5, 4), 23, (5, 2)),
    "batch_normed": (lambda **how: batch_normed([4, 3, 2], **how), (5, 4), 29, (5, 2)),
    "small_convnet": (small_convnet, (5, 1, 8, 8), 1898, (5, 10)),
    "tied": (lambda **how: tied(4, **how), (5, 4), 8, (5, 4)),
}


@pytest.mark.parametrize("name", BUILT)
def test_shapes_and_sizes(name: str) -> None:
    build, given, parameters, returned = BUILT[name]
    model = build(dtype=torch.float64)
    assert parameters_of(model) == parameters
    output = model(torch.rand(given, dtype=torch.float64))
    assert output.shape == returned
    output.sum().backward()
    assert all(p.grad is not None and p.dtype == torch.float64 for p in model.parameters())


@pytest.mark.parametrize("name", BUILT)
def test_a_seed_says_all(name: str) -> None:
    build, state = BUILT[name][0], torch.get_rng_state()
    one, same, other = (build(seed=seed).state_dict() for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(one[key], same[key]) for key in one)
    assert not all(torch.equal(one[key], other[key]) for key in one)


def test_a_layer_alone_has_the_numbers_that_it_has_in_the_model() -> None:
    alone, within = linear(3, 2, seed=7, index=1), mlp([4, 3, 2], seed=7)[2]
    assert torch.equal(alone.weight, within.weight)
    assert torch.equal(alone.bias, within.bias)


def test_layers_of_one_shape_differ() -> None:
    model = mlp([4, 4, 4])
    assert not torch.equal(model[0].weight, model[2].weight)


def test_numbers_are_as_large_as_torchs() -> None:
    weight = mlp([100, 400])[0].weight
    assert 0.99 * 0.1 < weight.abs().max() <= 0.1


def test_a_matrix_that_is_used_twice_counts_once() -> None:
    shared = linear(4, 4, 0, 0)
    assert parameters_of(nn.Sequential(shared, shared)) == 20


def test_a_large_model_without_data() -> None:
    def outputs() -> torch.Tensor:
        return mlp([4096, 65536, 10])(torch.zeros(3, 4096))

    assert run(outputs, ranks=2, on="laptop", fake=True).values[1].shape == (3, 10)


def test_a_gpt_is_its_layers_in_a_row() -> None:
    model, tokens = GPT(vocabulary=10, width=8, heads=2, layers=3, context=6), torch.arange(12).reshape(2, 6) % 10
    assert [parameters_of(layer) for layer in model] == [(10 + 6) * 8, *[12 * 8 * 8 + 13 * 8] * 3, 2 * 8 + 8 * 10]
    assert model(tokens).shape == (2, 6, 10)
    assert model(tokens[:, :4]).shape == (2, 4, 10)


def test_a_block_alone_has_the_numbers_that_it_has_in_the_model() -> None:
    alone, model = Block(8, 2, seed=7, index=2), GPT(width=8, heads=2, layers=3, seed=7)
    assert all(torch.equal(a, b) for a, b in zip(alone.parameters(), model[2].parameters(), strict=True))
    assert not torch.equal(model[1].qkv.weight, model[2].qkv.weight)


def test_no_position_sees_a_later_one() -> None:
    model, tokens = GPT(width=8, heads=2, layers=2, context=6, dtype=torch.float64), torch.arange(6).reshape(1, 6)
    changed = tokens.clone()
    changed[0, 4] = 99
    same = model(tokens).isclose(model(changed)).all(dim=-1)[0]
    assert same.tolist() == [True] * 4 + [False] * 2


def test_a_gpt_learns_python_s_source() -> None:
    model, text, state = GPT(width=32, layers=1, context=16), library_text(200_000), torch.get_rng_state()
    adam, losses = torch.optim.Adam(model.parameters(), 3e-3), []
    for step in range(40):
        x, y = text_batch(text, 8, 16, seed=step)
        loss = next_token_loss(model(x), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert losses[0] > 5
    assert losses[-1] < 3.6
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("bad", [{"width": 10, "heads": 4}, {"layers": -1}, {"context": 0}], ids=str)
def test_a_gpt_without_sense_is_refused(bad: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="There is no GPT"):
        GPT(**bad)
