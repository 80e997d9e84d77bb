"""The regions, one by one: what they give, what their gradients are, and what travels."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.errors import RankRaised, UsageError
from lockstep.events import Count
from lockstep.tensor_parallel import f_and_g

K, N = 3, 5
N_SEQUENCE = 6


def mine(n: int) -> Tensor:
    """Other numbers on each rank."""
    return torch.arange(2.0 * n).view(2, n) + 100 * dist.get_rank()


def through(name: str, *arguments: Any) -> tuple[Tensor, Tensor]:
    """The region's output, and the gradient of its input where each rank weighs the outputs with numbers of its own."""
    n = {"gather_from_region": len(range(N)[f_and_g.own(N, None)]), "gather_from_sequence": 2}.get(name, N)
    x = mine(N_SEQUENCE if name.startswith("reduce_scatter") else n).requires_grad_()
    out = getattr(f_and_g, name)(x, *arguments)
    (out * mine(out.shape[1])).sum().backward()
    return out.detach(), x.grad


def numbers(rank: int, n: int) -> Tensor:
    return torch.arange(2.0 * n).view(2, n) + 100 * rank


WHOLE = [numbers(rank, N) for rank in range(K)]
SHARES = [f_and_g.share(N, K, rank) for rank in range(K)]
PARTS = [numbers(rank, s.stop - s.start) for rank, s in enumerate(SHARES)]
PAIRS = [numbers(rank, 2) for rank in range(K)]
SIX = [numbers(rank, N_SEQUENCE) for rank in range(K)]
WANTED = {
    "copy_to_region": ((), WHOLE, [sum(WHOLE)] * K, {"all_reduce": Count(1, 40)}),
    "reduce_from_region": ((), [sum(WHOLE)] * K, WHOLE, {"all_reduce": Count(1, 40)}),
    "scatter_to_region": (
        (), [w[:, s] for w, s in zip(WHOLE, SHARES, strict=True)], [torch.cat(PARTS, 1)] * K,
        {"all_gather": Count(1, K * 2 * 2 * 4)},
    ),
    "gather_from_region": ((N,), [torch.cat(PARTS, 1)] * K, [w[:, s] for w, s in zip(WHOLE, SHARES, strict=True)],
                           {"all_gather": Count(1, K * 2 * 2 * 4)}),
    "gather_from_sequence": ((), [torch.cat(PAIRS, 1)] * K, list(sum(SIX).split(2, 1)),
                             {"all_gather": Count(1, 48), "reduce_scatter": Count(1, 48)}),
    "reduce_scatter_to_sequence": ((), list(sum(SIX).split(2, 1)), [torch.cat(PAIRS, 1)] * K,
                                   {"all_gather": Count(1, 48), "reduce_scatter": Count(1, 48)}),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WANTED)
def test_what_a_region_gives_and_what_comes_back(name: str) -> None:
    arguments, outputs, gradients, counts = WANTED[name]
    result = run(through, name, *arguments, ranks=K, on="dgx-a100")
    for rank, (output, gradient) in enumerate(result.values):
        torch.testing.assert_close(output, outputs[rank])
        torch.testing.assert_close(gradient, gradients[rank])
    for rank in range(K):
        assert {kind: count for (r, kind), count in result.trace.counts().items() if r == rank} == counts


def test_shares_are_those_of_tensor_split() -> None:
    for n in range(12):
        for ranks in range(1, 6):
            wanted = [part.tolist() for part in torch.arange(n).tensor_split(ranks)]
            assert [list(range(n))[f_and_g.share(n, ranks, r)] for r in range(ranks)] == wanted


def test_positions_are_shared_out_evenly() -> None:
    with pytest.raises(RankRaised, match="5 positions cannot be shared out evenly among 3 ranks"):
        run(lambda: f_and_g.reduce_scatter_to_sequence(torch.ones(2, N)), ranks=K, on="dgx-a100")
    assert issubclass(UsageError, Exception)


def in_a_group() -> list[float]:
    group = dist.new_group([1, 3])
    if dist.get_rank() not in (1, 3):
        return []
    x = torch.full((1,), float(dist.get_rank()), requires_grad=True)
    out = f_and_g.reduce_from_region(f_and_g.copy_to_region(x, group), group)
    out.backward()
    return [out.item(), x.grad.item()]


def test_in_a_group() -> None:
    assert run(in_a_group, ranks=4, on="dgx-a100").values == [[], [4, 2], [], [4, 2]]


def given_on() -> list[float]:
    """x + f(x): the sum's gradient goes to both, and f adds up a copy of it."""
    x = torch.ones(1, requires_grad=True)
    (x + f_and_g.copy_to_region(x)).backward()
    return x.grad.tolist()


def test_the_gradient_that_arrives_stays_as_it_is() -> None:
    assert run(given_on, ranks=2, on="dgx-a100").values == [[1 + 2], [1 + 2]]
