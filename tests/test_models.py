"""Small models: the same bits everywhere, layer by layer, and nobody's random numbers are used up."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from lockstep.models import batch_normed, linear, mlp, parameters_of, small_convnet, tied
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
