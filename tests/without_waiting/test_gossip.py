"""One step of gossip beside the matrix product, D-PSGD beside the same on one machine, and what both send."""

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.experiments.without_waiting.ports import busiest_port
from lockstep.without_waiting.gossip import complete, d_psgd, exponential, gossip_step, one_peer_exponential, ring, star
from lockstep.without_waiting.local_sgd import Gradient
from lockstep.worlds import run

ONE_WAY = torch.tensor([[2, 0, 2, 0], [1, 0, 0, 3], [0, 4, 0, 0], [0, 0, 1, 3]]).double() / 4


def start(rank: int) -> Tensor:
    return torch.arange(6.0, dtype=torch.float64).view(2, 3).t() * (rank + 1) + rank  # not contiguous


def one_step(mixing: Tensor) -> tuple[Tensor, bool]:
    x = start(dist.get_rank())
    return gossip_step(x, mixing), torch.equal(x, start(dist.get_rank()))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("on", ["laptop", "processes"])
@pytest.mark.parametrize("mixing", [torch.eye(1).double(), ring(2), ring(4), star(4), ONE_WAY], ids=str)
def test_a_step_is_the_product_with_the_matrix(mixing: Tensor, on: str) -> None:
    K = len(mixing)
    wanted = torch.einsum("ij,jab->iab", mixing, torch.stack([start(r) for r in range(K)]))
    result = run(one_step, mixing, ranks=K, on=on)
    for rank, (held, is_kept) in enumerate(result.values):
        assert torch.allclose(held, wanted[rank], rtol=1e-15)
        assert held.is_contiguous()
        assert is_kept
    sends = sorted((e.rank, e.peer) for e in result.trace.of_kind("send"))
    assert sends == sorted((j, i) for i in range(K) for j in range(K) if i != j and mixing[i, j])


def of_a_group() -> float | None:
    group = dist.new_group([1, 3])
    if dist.get_rank() not in (1, 3):
        return None
    return gossip_step(torch.tensor([float(dist.get_rank())]), ring(2), group).item()


def test_rows_count_the_ranks_of_the_group() -> None:
    assert run(of_a_group, ranks=4, on="laptop").values == [None, 2.0, None, 2.0]


def bowl(rank: int) -> Gradient:
    """Of (w - rank)²/2, with a little that depends on the step."""
    return lambda w, step: w - rank + step / 8


def trained(mixing: Tensor | list[Tensor], steps: int) -> Tensor:
    return d_psgd(bowl(dist.get_rank()), torch.zeros(2, dtype=torch.float64), steps, 0.25, mixing)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("matrices", [[ring(4)], [exponential(3)], one_peer_exponential(8)], ids=len)
def test_d_psgd_beside_the_same_on_one_machine(matrices: list[Tensor]) -> None:
    K, steps = len(matrices[0]), 5
    w = torch.zeros(K, 2, dtype=torch.float64)
    for step in range(steps):
        gradients = torch.stack([bowl(rank)(w[rank], step) for rank in range(K)])
        w = matrices[step % len(matrices)] @ w - 0.25 * gradients
    held = run(trained, matrices, steps, ranks=K, on="laptop").values
    assert torch.allclose(torch.stack(list(held)), w, rtol=1e-12)


def test_the_mean_of_the_models_takes_the_step_of_the_mean_gradient() -> None:
    """With doubly stochastic weights and linear gradients the mean does not see the graph."""
    means = [torch.stack(list(run(trained, W, 6, ranks=4, on="laptop").values)).mean(0) for W in (ring(4), complete(4))]
    assert torch.allclose(*means, rtol=1e-12)


@pytest.mark.slow
def test_the_busiest_port_of_gossip_does_not_see_how_many_ranks_there_are() -> None:
    assert [busiest_port("gossip on a ring", K) for K in (4, 8)] == [4, 4]
    assert [busiest_port("parameter server", K) for K in (4, 8)] == [2 * 3, 2 * 7]
    assert [busiest_port("one-peer exponential gossip", K) for K in (4, 8)] == [2, 2]
    assert busiest_port("ring all-reduce", 8) == pytest.approx(4 * 7 / 8)
