"""Tokens between nodes: few nodes for each, and once to each of them."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.errors import UsageError
from lockstep.experts.gate import top_k_gate
from lockstep.experts.two_stages import (
    Arrived,
    crossed,
    in_two_stages,
    measured,
    node_limited,
    stages_table,
    straight,
)
from lockstep.machines import find
from lockstep.tensor_parallel.across_nodes import nodes_of

T, E, K_CHOICES, PER_NODE, D = 6, 16, 4, 4, 3


def scores(*shape: int, seed: int = 1) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


def test_a_token_reaches_few_nodes_and_there_the_best_experts() -> None:
    s = scores(200, 16)
    experts = node_limited(s, 4, nodes=4, M=2)
    on = experts // 4
    assert max(len(set(row)) for row in on.tolist()) == 2
    for token in range(200):
        best = s[token].view(4, 4).topk(2).values.sum(1)
        allowed = best.topk(2).indices.tolist()
        within = [e for e in s[token].argsort(descending=True).tolist() if e // 4 in allowed]
        assert experts[token].tolist() == within[:4]


def test_all_nodes_are_no_limit() -> None:
    s = scores(50, 16)
    assert torch.equal(node_limited(s, 4, nodes=4, M=4), top_k_gate(s, 4)[0])


@pytest.mark.parametrize(("k", "nodes", "M"), [(4, 3, 1), (4, 4, 3), (4, 4, 0), (8, 4, 1)])
def test_what_can_not_be_limited_is_told(k: int, nodes: int, M: int) -> None:
    with pytest.raises(UsageError, match="can't be limited"):
        node_limited(scores(2, 16), k, nodes, M)


def choices(rank: int) -> Tensor:
    return top_k_gate(scores(T, E, seed=rank), K_CHOICES)[0]


def arrived(two: bool) -> list[tuple[int, list[float]]]:
    """On a rank: each of its experts' rows, which tell whose token it is. Rank 1 has no tokens."""
    r, each = dist.get_rank(), E // dist.get_world_size()
    own = choices(r)[: 0 if r == 1 else T]
    x = torch.stack([torch.full((D,), 100.0 * r + t) for t in range(T)])[: len(own)]
    there: Arrived = in_two_stages(x, own, E, PER_NODE) if two else straight(x, own, E)
    row, choice = (there.experts // each == r).nonzero(as_tuple=True)
    rows = zip(there.experts[row, choice].tolist(), there.rows[row].tolist(), strict=True)
    return sorted(rows)


def test_both_ways_bring_each_expert_the_same_rows() -> None:
    ways = [run(arrived, two, ranks=8, on=nodes_of(PER_NODE)) for two in (False, True)]
    assert ways[0].values == ways[1].values
    assert sum(map(len, ways[0].values)) == 7 * T * K_CHOICES
    row = 4 * D + 8 * K_CHOICES
    other_node = sum(
        len({e // 8 for e in token} - {r // PER_NODE}) for r in range(8) if r != 1 for token in choices(r).tolist()
    )
    assert crossed(ways[1].trace, PER_NODE).between == other_node * row + 8 * 8  # and a count from each rank


@pytest.mark.slow
def test_two_stages_cross_once_for_each_node_and_a_limit_alone_saves_nothing() -> None:
    """16 ranks of 256 tokens, 2 KB each: nearly every token has experts in both nodes."""
    dgx = find("dgx-a100")
    free, free_two, limited, limited_two = (measured(two, M, dgx) for M in (2, 1) for two in (False, True))
    megabytes = [round(c.between / 1e6, 1) for c in (free, free_two, limited, limited_two)]
    assert megabytes == [33.5, 8.6, 33.5, 4.3]
    assert limited_two.seconds < free_two.seconds < 0.6 * free.seconds
    assert len(stages_table(limits=(1,)).rows) == 2
