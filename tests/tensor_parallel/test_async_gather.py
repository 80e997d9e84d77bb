"""An all-gather in shards: the same numbers and bytes as by a collective, and products while shards travel."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import checks, run
from lockstep.events import Count
from lockstep.exercises.tensor_parallel.shards_under_way import LONG, cases
from lockstep.tensor_parallel.across_nodes import nodes_of
from lockstep.tensor_parallel.async_gather import async_gather_matmul, gather_table, gather_then_matmul, seconds

N, H, M = 3, 5, 4


def both() -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(dist.get_rank())
    x, A = (torch.randint(-9, 10, size, generator=drawn).double() for size in ((N, H), (H, M)))
    return async_gather_matmul(x, A), gather_then_matmul(x, A)


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_it_is_an_all_gather_and_a_product(ranks: int) -> None:
    done = run(both, ranks=ranks, on="dgx-a100")
    for ring, gathered in done.values:
        assert ring.shape == (ranks * N, M)
        assert torch.equal(ring, gathered)
    counts = done.trace.counts()
    for rank in range(ranks if ranks > 1 else 0):
        assert counts[rank, "send"] == counts[rank, "recv"] == Count(ranks - 1, 8 * (ranks - 1) * N * H)


def test_what_travels_hides_inside_a_node() -> None:
    """8 A100, GPT-3's first product in an MLP: 0.99 ms are the product's, whichever way."""
    first, ring = (1e3 * seconds(way, nodes_of(8)) for way in (gather_then_matmul, async_gather_matmul))
    assert (round(first, 2), round(ring, 2)) == (1.15, 1.02)


def test_a_ring_through_nodes_goes_at_the_pace_of_their_network() -> None:
    """Four ranks in a node: an all-gather uses all of the node's ports, a ring one of them."""
    (row,) = gather_table(nodes=(4,)).rows
    assert float(row[1]) < float(row[2])


def test_in_one_case_half_a_product_is_over_before_its_shard_has_come() -> None:
    """Where all shards were short, whoever waited in the middle of each product passed: nobody had to wait."""
    assert [case.settings["n"] for case in cases(3, 0)].count(LONG[0]) == 1


def test_a_layout_is_told_apart_from_a_group() -> None:
    """x was transposed in memory in the group alone: an answer that sent it as it is was told to pass the group on."""

    def as_it_is(x: Tensor, A: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
        r, K = dist.get_rank(group), dist.get_world_size(group)
        shard, parts = x, [x] * K
        for step in range(K):
            coming, works = torch.empty(x.shape), []
            if step < K - 1:
                works.append(dist.isend(shard, group=group, group_dst=(r + 1) % K))
                works.append(dist.irecv(coming, group=group, group_src=(r - 1) % K))
            parts[(r - step) % K] = shard @ A
            for work in works:
                work.wait()
            shard = coming
        return torch.cat(parts)

    score = checks.check("tensor_parallel.async_gather_matmul", as_it_is)
    assert not score.passed
    assert "ignores-group" not in [f.misconception for f in score.findings], score.text()
    assert "not contiguous" in score.text()
