"""The lab's references, beside the modules and by hand."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep import run
from lockstep.cost.experts import all_to_all_seconds
from lockstep.experts import functional
from lockstep.experts.gate import top_k_gate, within_capacity
from lockstep.machines import alpha_beta

T, D, H, E, K, C = 9, 4, 6, 6, 2, 2


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_names_come_from_the_largest_part_of_a_kind() -> None:
    tokens, experts = [*b"   aaaa12  ((b"], [0, 0, 1, 1, 1, 1, 0, 2, 2, 0, 0, 2, 2, 0]
    assert functional.name_the_expert(tokens, experts, 4) == ["consonants", "vowels", "digits", "idle"]
    assert functional.name_the_expert(tokens, [2] * 13 + [0], 3) == ["consonants", "idle", "everything"]


def there_and_back() -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    first = rank * E // ranks
    x = drawn(T, D, seed=rank)
    experts, weights = top_k_gate(drawn(T, E, seed=9 + rank), K)
    return functional.dispatch_and_combine(x, experts, weights, lambda i, rows: (first + i + 1) * rows, E, C)


@pytest.mark.parametrize("ranks", [1, 3])
def test_dispatch_and_combine_with_places(ranks: int) -> None:
    for rank, (y, kept) in enumerate(run(there_and_back, ranks=ranks, on="dgx-a100").values):
        experts, weights = top_k_gate(drawn(T, E, seed=9 + rank), K)
        assert torch.equal(kept, within_capacity(experts, E, C))
        assert not kept.all()
        torch.testing.assert_close(y, ((experts + 1) * weights * kept).sum(1, keepdim=True) * drawn(T, D, seed=rank))


def gradients() -> list[Tensor]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine = slice(rank * E // ranks, (rank + 1) * E // ranks)
    up, down = drawn(E, H, D, seed=7)[mine], drawn(E, D, H, seed=8)[mine]
    x = drawn(T, D, seed=rank)[: T - rank]
    return functional.expert_parallel_moe(x, drawn(E, D, seed=6), up, down, K, lambda y: y.square().sum())


@pytest.mark.parametrize("ranks", [1, 2])
def test_gradients_are_those_of_all_experts_in_one_place(ranks: int) -> None:
    gate, up, down = (t.requires_grad_() for t in (drawn(E, D, seed=6), drawn(E, H, D, seed=7), drawn(E, D, H, seed=8)))
    x = torch.cat([drawn(T, D, seed=rank)[: T - rank] for rank in range(ranks)]).requires_grad_()
    chosen, weights = top_k_gate(x @ gate.T, K)
    every = torch.stack([F.relu(x @ u.T) @ d.T for u, d in zip(up, down, strict=True)], 1)  # (T, E, d)
    y = (weights.unsqueeze(2) * every.gather(1, chosen.unsqueeze(2).expand(-1, -1, D))).sum(1)
    y.square().sum().backward()
    own = torch.split(x.grad, [T - rank for rank in range(ranks)])
    for rank, found in enumerate(run(gradients, ranks=ranks, on="dgx-a100").values):
        mine = slice(rank * E // ranks, (rank + 1) * E // ranks)
        for a, b in zip(found, (own[rank], gate.grad, up.grad[mine], down.grad[mine]), strict=True):
            torch.testing.assert_close(a, b)


def test_depths_by_hand() -> None:
    x, router = torch.tensor([[1.0, 0], [3, 1], [2, 5]]), torch.tensor([1.0, 0])
    y = functional.mixture_of_depths(x, router, lambda rows: rows.cumsum(0), 2)
    assert y.tolist() == [[1, 0], [3 + 3 * 3, 1 + 3 * 1], [2 + 2 * 5, 5 + 2 * 6]]


def test_the_time_of_an_exchange_is_that_of_the_cluster_where_bytes_decide() -> None:
    loads = [[300, 20, 5, 90], [70, 100, 200, 30]]
    found = functional.step_time_of_loads(loads, 4 * 64, 0.0, 1e-9, 0.0)
    assert found == pytest.approx(2 * all_to_all_seconds(loads, 64, alpha_beta(0.0, 1e-9)))
    assert functional.step_time_of_loads(loads, 0, 2.0, 1.0, 1.0) == 2 * 2.0 + 490
