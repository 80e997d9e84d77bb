"""Attention over a sequence that is cut among ranks: numbers, gradients, bytes and balance."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep import run
from lockstep.context_parallel import Layout, ring_attention, ulysses_attention
from lockstep.context_parallel.ulysses import causal, ulysses
from lockstep.cost.context_parallel import sent
from lockstep.errors import RankRaised, UsageError

WAYS = {"ring": ring_attention, "ulysses": ulysses_attention}
B, D = 2, 3


def drawn(heads: int, kv_heads: int, T: int) -> list[Tensor]:
    source = torch.Generator().manual_seed(T)
    return [torch.randn(B, n, T, D, generator=source, dtype=torch.float64) for n in (heads, kv_heads, kv_heads, heads)]


def serial(heads: int, kv_heads: int, T: int) -> list[Tensor]:
    """Attention of the whole sequence, and the gradients of q, k and v."""
    q, k, v, weight = drawn(heads, kv_heads, T)
    leaves = [x.requires_grad_() for x in (q, k, v)]
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    (out * weight).sum().backward()
    return [out.detach(), *(x.grad for x in leaves if x.grad is not None)]


def parallel(way: str, zigzag: bool, heads: int, kv_heads: int, T: int) -> list[Tensor]:
    r, layout = dist.get_rank(), Layout(T, dist.get_world_size(), zigzag)
    q, k, v, weight = (layout.part(x, r) for x in drawn(heads, kv_heads, T))
    leaves = [x.requires_grad_() for x in (q, k, v)]
    out = WAYS[way](q, k, v, layout)
    (out * weight).sum().backward()
    return [out.detach(), *(x.grad for x in leaves if x.grad is not None)]


@pytest.mark.parametrize("zigzag", [True, False])
@pytest.mark.parametrize(("way", "heads", "kv_heads", "T", "ranks"), [
    ("ring", 4, 4, 16, 4), ("ring", 4, 2, 23, 3), ("ring", 3, 1, 7, 5), ("ring", 2, 2, 5, 1), ("ring", 1, 1, 3, 4),
    ("ulysses", 4, 4, 16, 4), ("ulysses", 6, 3, 23, 3), ("ulysses", 4, 2, 9, 2), ("ulysses", 2, 2, 5, 1),
    ("ulysses", 4, 4, 3, 4),
])  # fmt: skip
def test_each_rank_has_its_rows_of_attention_and_of_its_gradients(
    way: str, heads: int, kv_heads: int, T: int, ranks: int, zigzag: bool
) -> None:
    """Sizes that ranks don't divide, one rank, one head of keys for three, and ranks without a position."""
    layout, whole = Layout(T, ranks, zigzag), serial(heads, kv_heads, T)
    done = run(parallel, way, zigzag, heads, kv_heads, T, ranks=ranks, on="dgx-a100", strict=True)
    for rank, values in enumerate(done.values):
        for mine, all_of_it in zip(values, whole, strict=True):
            torch.testing.assert_close(mine, layout.part(all_of_it, rank), rtol=1e-12, atol=1e-12)


def test_real_processes_have_the_same_numbers() -> None:
    for way in WAYS:
        arguments = way, True, 4, 2, 11
        real, virtual = (run(parallel, *arguments, ranks=2, on=world).values for world in ("processes", "virtual"))
        for mine, theirs in zip(real, virtual, strict=True):
            for x, y in zip(mine, theirs, strict=True):
                torch.testing.assert_close(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("way", "kinds"), [("ring", ["send"]), ("ulysses", ["all_to_all"])])
def test_bytes_are_those_of_the_formula(way: str, kinds: list[str]) -> None:
    heads, kv_heads, T, ranks = 8, 4, 32, 4
    counts = run(parallel, way, True, heads, kv_heads, T, ranks=ranks, on="dgx-a100").trace.counts()
    needed = 8 * sum(sent(way, B, T, heads, kv_heads, D, ranks, backward) for backward in (False, True))
    for rank in range(ranks):
        counted = sum(count.nbytes for (r, kind), count in counts.items() if r == rank and kind in kinds)
        leaves = counted if way == "ring" else counted * (ranks - 1) / ranks  # a rank's part for itself doesn't
        assert leaves == pytest.approx(needed)


def test_zigzag_shares_the_pairs_out_evenly_where_stretches_do_not() -> None:
    T, ranks = 64, 4
    assert {Layout(T, ranks).pairs(r) for r in range(ranks)} == {T * (T + 1) // 2 // ranks}
    first, *_, last = (Layout(T, ranks, zigzag=False).pairs(r) for r in range(ranks))
    assert last / first == pytest.approx(2 * ranks - 1, rel=0.12)


def passed(zigzag: bool) -> None:
    layout = Layout(32768, dist.get_world_size(), zigzag)
    q, k, v = (torch.empty(1, 8, layout.length(dist.get_rank()), 128, dtype=torch.bfloat16) for _ in range(3))
    ring_attention(q, k, v, layout)


def test_a_balanced_ring_takes_little_more_than_half_the_time() -> None:
    """Of 2K - 1 blocks of the last rank, the most loaded one, zig-zag leaves K; in both the first is half of one."""
    even, uneven = (run(passed, zigzag, ranks=4, on="dgx-a100", fake=True).time for zigzag in (True, False))
    assert 0.5 < even / uneven < 0.65


def test_positions_are_each_on_one_rank() -> None:
    for T, ranks, zigzag in [(1, 1, True), (7, 3, True), (7, 3, False), (3, 4, True), (40, 5, True)]:
        layout = Layout(T, ranks, zigzag)
        assert sorted(torch.cat([layout.positions(r) for r in range(ranks)]).tolist()) == list(range(T))
        assert [layout.length(r) for r in range(ranks)] == [len(layout.positions(r)) for r in range(ranks)]


def test_what_cannot_be_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="0 positions on 3 ranks are no layout"):
        Layout(0, 3)
    with pytest.raises(RankRaised, match="2 ranks can't share 3 heads of queries and 3"):
        run(parallel, "ulysses", True, 3, 3, 8, ranks=2)
    with pytest.raises(RankRaised, match="The layout is for 3 ranks, the group has 2"):
        run(lambda: ring_attention(*drawn(2, 2, 4)[:3], Layout(4, 3)), ranks=2)


def by_lengths(lengths: list[int]) -> bool:
    """Two KV heads a rank, and each with two of queries."""
    r, K, dice = dist.get_rank(), dist.get_world_size(), torch.Generator().manual_seed(4)
    q, k, v = (torch.randn(n * K, sum(lengths), 3, generator=dice, dtype=torch.float64) for n in (4, 2, 2))
    mine = [x.split(lengths, 1)[r] for x in (q, k, v)]
    held = ulysses(*mine, causal, lengths)
    return torch.allclose(held, causal(q, k, v).split(lengths, 1)[r], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("lengths", [[5], [3, 3], [4, 0, 2]])
def test_ranks_may_have_any_stretch(lengths: list[int]) -> None:
    assert all(run(by_lengths, lengths, ranks=len(lengths)).values)
