"""Algorithm 1 beside one machine with the whole minibatch, and beside exact arithmetic."""

from collections.abc import Callable
from fractions import Fraction

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.data_parallel.sgd import all_reduce_sgd, average_gradients, sequential_sgd, training_step
from lockstep.models import mlp
from lockstep.worlds import run

STEPS, EACH, FEATURES = 3, 4, 2


def gradient(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Of half the mean squared error of x @ w."""
    return x.T @ (x @ w - y) / len(x)


def minibatches(ranks: int) -> list[tuple[Tensor, Tensor]]:
    """Of ranks·EACH examples, small multiples of a half; x has the factor ``ranks``, which the mean then divides by."""
    drawn = torch.Generator().manual_seed(ranks)
    n = ranks * EACH
    x = torch.randint(-3, 4, (STEPS, n, FEATURES), generator=drawn).double() * ranks / 2
    return list(zip(x, torch.randint(-3, 4, (STEPS, n), generator=drawn).double(), strict=True))


def rate(ranks: int) -> Callable[[int], float]:
    return lambda t: ranks / 2 ** (t + 4)


def parallel(ranks: int) -> tuple[Tensor, Tensor]:
    w = torch.ones(FEATURES, dtype=torch.float64)
    own = slice(dist.get_rank() * EACH, (dist.get_rank() + 1) * EACH)
    result = all_reduce_sgd(gradient, w, [(x[own], y[own]) for x, y in minibatches(ranks)], rate(ranks))
    return result, w


def exact(ranks: int) -> list[Fraction]:
    w = [Fraction(1)] * FEATURES
    for t, (x, y) in enumerate(minibatches(ranks), start=1):
        rows, wanted = [[Fraction(v) for v in row] for row in x.tolist()], [Fraction(v) for v in y.tolist()]
        off = [sum(a * b for a, b in zip(row, w, strict=True)) - v for row, v in zip(rows, wanted, strict=True)]
        mean = [sum(e * row[j] for e, row in zip(off, rows, strict=True)) / len(rows) for j in range(FEATURES)]
        w = [a - Fraction(rate(ranks)(t)) * g for a, g in zip(w, mean, strict=True)]
    return w


@pytest.mark.sampled(7)
@pytest.mark.parametrize("on", ["laptop", "processes"])
@pytest.mark.parametrize("K", [1, 2, 3, 4])
def test_all_ranks_hold_the_exact_result(K: int, on: str) -> None:
    wanted = exact(K)
    alone = sequential_sgd(gradient, torch.ones(FEATURES, dtype=torch.float64), minibatches(K), rate(K))
    assert [Fraction(v) for v in alone.tolist()] == wanted
    for held, start in run(parallel, K, ranks=K, on=on).values:
        assert [Fraction(v) for v in held.tolist()] == wanted
        assert start.tolist() == [1.0] * FEATURES


def test_it_costs_one_all_reduce_a_step() -> None:
    trace = run(parallel, 4, ranks=4, on="laptop").trace
    assert [(e.kind, e.nbytes) for e in trace.communication if e.rank == 2] == [("all_reduce", FEATURES * 8)] * STEPS


def shares(sizes: tuple[int, ...]) -> list[list[float]]:
    """A minibatch in unequal shares: the gradients after the mean."""
    x = torch.arange(3.0 * sum(sizes)).view(-1, 3) / 8
    y = x.sum(1, keepdim=True) - 1
    own = range(sum(sizes))[sum(sizes[: dist.get_rank()]) :][: sizes[dist.get_rank()]]
    model = mlp([3, 2, 1], seed=1, dtype=torch.float64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    training_step(model, optimizer, F.mse_loss, x[list(own)].double(), y[list(own)].double())
    return [p.grad.flatten().tolist() for p in model.parameters() if p.grad is not None]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sizes", [(5, 2), (1, 3, 3), (4, 0, 3)])
def test_each_example_counts_once_however_unequal_the_shares(sizes: tuple[int, ...]) -> None:
    [alone] = run(shares, (7,), ranks=1, on="laptop").values
    for held in run(shares, sizes, ranks=len(sizes), on="laptop").values:
        for mine, whole in zip(held, alone, strict=True):
            assert mine == pytest.approx(whole, rel=1e-13)


def frozen_and_unused() -> list[list[float] | None]:
    used, unused, frozen = (torch.ones(2, requires_grad=needs) for needs in (True, True, False))
    (used * dist.get_rank()).sum().backward()
    average_gradients([used, unused, frozen], examples=1)
    return [None if p.grad is None else p.grad.tolist() for p in (used, unused, frozen)]


def test_a_parameter_without_a_gradient_gets_zeros_and_a_frozen_one_none() -> None:
    assert run(frozen_and_unused, ranks=3, on="laptop").values == [[[1.0, 1.0], [0.0, 0.0], None]] * 3
