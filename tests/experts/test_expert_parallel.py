"""Experts on ranks: gradients as on one rank, tokens that come back, and what travels."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.experiments.mixture_of_experts.compared_with_torch import beside_torch
from lockstep.experiments.mixture_of_experts.table import CASES, ONE_GROUP, REPLICAS, beside_one_rank
from lockstep.experts.balance import load_balancing_loss, parts_of_losses, z_loss
from lockstep.experts.dispatch import combine, dispatch, plan
from lockstep.experts.expert_parallel import ExpertParallelMoE
from lockstep.experts.gate import TopKGate, limited

ROUNDING = 1e-14


@pytest.mark.slow
@pytest.mark.parametrize(("on", "grids"), [("dgx-a100", [(4, 2)]), ("processes", [(3, 3)])])
def test_gradients_and_weights_are_those_of_one_rank(on: str, grids: list[tuple[int, int]]) -> None:
    """Rank 1 has no token, and in the last case all tokens want one expert, so that most ranks compute none."""
    chosen = [CASES[n] for n in (0, 3, 7)]
    for row in beside_one_rank(grids, chosen, on):
        assert row["apart"] <= ROUNDING, row


@pytest.mark.slow
def test_all_cases_on_all_grids() -> None:
    for row in beside_one_rank(ONE_GROUP + REPLICAS):
        assert row["apart"] <= ROUNDING, row


def there_and_back(k: int, factor: float | None) -> tuple[bool, list[int]]:
    """Experts that change nothing give each token back, times what it is worth where nobody was dropped."""
    rank = dist.get_rank()
    x = torch.randn(11 + rank, 6, generator=torch.Generator().manual_seed(rank))
    routing = limited(TopKGate(6, 12, k, "before")(x), factor)
    where = plan(routing)
    rows = dispatch(x, k, where)
    wanted = (routing.weights * routing.kept).sum(1, keepdim=True) * x
    return torch.allclose(combine(rows, routing.weights, where), wanted), [len(r) for r in rows]


@pytest.mark.parametrize(("k", "factor"), [(1, None), (3, None), (2, 0.5)])
def test_tokens_come_back_to_where_they_were(k: int, factor: float | None) -> None:
    values = run(there_and_back, k, factor, ranks=4, on="dgx-a100").values
    assert all(right for right, _ in values)
    rows = sum(sum(of_rank) for _, of_rank in values)
    total = k * sum(11 + rank for rank in range(4))
    assert (rows == total) if factor is None else (rows < total)


def losses() -> tuple[Tensor, ...]:
    rank = dist.get_rank()
    scores = torch.randn(rank * 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(rank))
    experts = scores.topk(2).indices
    parts = parts_of_losses(scores, experts)
    for part in parts:
        dist.all_reduce(part)
    return (scores, experts, *parts)


def test_the_parts_of_the_losses_add_up_to_those_of_the_batch() -> None:
    found = run(losses, ranks=3, on="dgx-a100").values
    scores, experts = (torch.cat([of_rank[n] for of_rank in found]) for n in (0, 1))
    for _, _, balance, z in found:
        assert balance.item() == pytest.approx(load_balancing_loss(scores, experts).item(), abs=1e-12)
        assert z.item() == pytest.approx(z_loss(scores).item(), abs=1e-12)


def uneven() -> Any:
    return ExpertParallelMoE(TopKGate(6, 5), 8)


def test_ranks_have_to_divide_the_experts() -> None:
    with pytest.raises(Exception, match="5 experts do not stand on 2 ranks evenly"):
        run(uneven, ranks=2, on="dgx-a100")


@pytest.mark.slow
def test_the_layer_is_that_of_torchs_parts() -> None:
    for on in ("dgx-a100", "processes"):
        found = beside_torch(2, on)
        assert found.difference <= 1e-5
        assert found.sent == found.theirs
