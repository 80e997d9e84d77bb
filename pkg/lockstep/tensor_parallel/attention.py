"""Tensor-parallel attention: each rank has some of the heads, with all their weights. Heads never exchange anything.

    X (b, T, h)    H heads, G of which have keys and values (G = H in GPT-2; fewer: "grouped queries")    d = h/H

    rank 0    X ── 1 f ── its queries, keys, values ── 2 its heads ── its rows of the output layer ──┐
    rank 1    X ── 1 f ── its queries, keys, values ── 2 its heads ── its rows of the output layer ──┴─ 3 g ── on both

One layer makes queries, keys and values: its outputs are [q_1 ... q_H, k_1 ... k_G, v_1 ... v_G], d numbers each. So a
rank's columns of it are three ranges, not one: cut like any other layer, it would leave rank 0 with queries alone.

    H = 4, G = 4, K = 2    rank 0 has q_1 q_2 k_1 k_2 v_1 v_2, rank 1 the others
    H = 4, G = 2, K = 2    rank 0 has q_1 q_2 k_1 v_1
    H = 4, G = 2, K = 4    rank 0 has q_1 k_1 v_1, rank 1 has q_2 k_1 v_1: 4 k_1 and v_1 are on two ranks, and the
                           gradient of a weight that several ranks hold is the sum of theirs

Where K doesn't divide the heads, some ranks have one more. Source: Shoeybi et al., Megatron-LM, arXiv:1909.08053,
section 3, figure 3b; grouped queries: Ainslie et al., arXiv:2305.13245.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.errors import UsageError
from lockstep.tensor_parallel.f_and_g import Group, share, summed
from lockstep.tensor_parallel.linear import PLAIN, Style

Core = Callable[[Tensor, Tensor, Tensor], Tensor]  # (b, heads, T, d) three times, to the same shape


def causal(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Position t attends to the positions up to t; a head of ``key`` and ``value`` may serve several of ``query``."""
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)


class Attention(nn.Module):
    """Attention on one rank: (b, T, width) to the same shape. ``qkv`` has (heads + 2·kv_heads)·d outputs."""

    def __init__(self, qkv: nn.Linear, out: nn.Linear, heads: int, kv_heads: int, core: Core = causal) -> None:
        super().__init__()
        self.qkv, self.out, self.heads, self.kv_heads, self.core = qkv, out, heads, kv_heads, core

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.out(attended(self.qkv(x), self.heads, self.kv_heads, self.core))
        return out


class ParallelAttention(nn.Module):
    """This rank's heads of ``Attention``: (b, T, width) to the same shape, alike on all ranks.

    ``sharers``: where there are fewer KV heads than ranks, the group of the ranks with this rank's KV head, from
    ``kv_groups``. Raises UsageError where the heads can't be divided among the ranks."""

    def __init__(
        self, qkv: nn.Linear, out: nn.Linear, heads: int, kv_heads: int | None = None, group: Group = None,
        style: Style = PLAIN, core: Core = causal, sharers: Group = None,
    ) -> None:  # fmt: skip
        super().__init__()
        K, r, kv_heads = dist.get_world_size(group), dist.get_rank(group), kv_heads or heads
        queries, keys = heads_of(r, K, heads, kv_heads)
        d = qkv.out_features // (heads + 2 * kv_heads)
        stretches = [stretch(queries, d, 0), stretch(keys, d, heads), stretch(keys, d, heads + kv_heads)]
        self.heads, self.kv_heads, self.core = len(queries), len(keys), core
        self.qkv = style.column(qkv, group, torch.tensor([*chain(*stretches)]))  # 1
        self.out = style.row(out, group, torch.tensor([*stretches[0]]))  # 3
        if kv_heads < K:
            self._share(self.heads * d, sharers)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.out(attended(self.qkv(x), self.heads, self.kv_heads, self.core))
        return out

    def _share(self, first: int, sharers: Group) -> None:
        """Sum the gradients of the outputs from ``first`` on over ``sharers``, which hold the same weights."""
        if sharers is None:
            raise UsageError("Fewer KV heads than ranks: several ranks have one.", "Pass sharers=kv_groups(...).")

        def total(gradient: Tensor) -> Tensor:
            return torch.cat([gradient[:first], summed(gradient[first:], sharers)])  # 4

        for parameter in self.qkv.parameters():
            parameter.register_hook(total)  # type: ignore[no-untyped-call]


def attended(qkv: Tensor, heads: int, kv_heads: int, core: Core) -> Tensor:
    """Step 2: (b, T, (heads + 2·kv_heads)·d) to (b, T, heads·d)."""
    by_head = qkv.view(*qkv.shape[:2], heads + 2 * kv_heads, -1).transpose(1, 2)  # (b, heads + 2·kv_heads, T, d)
    query, key, value = torch.split(by_head, [heads, kv_heads, kv_heads], dim=1)
    return core(query, key, value).transpose(1, 2).flatten(2)


def heads_of(r: int, K: int, heads: int, kv_heads: int) -> tuple[range, range]:
    """The query heads of rank r of K, and the KV heads that they attend to."""
    if kv_heads < 1 or heads % kv_heads:
        raise UsageError(f"{kv_heads} KV heads cannot serve {heads} heads.", "Each serves as many as the others.")
    each = heads // kv_heads
    if kv_heads >= K:  # whole KV heads, with all of their queries
        keys = share(kv_heads, K, r)
        return range(keys.start * each, keys.stop * each), range(keys.start, keys.stop)
    if K % kv_heads or heads % K:
        raise UsageError(
            f"{heads} heads with {kv_heads} KV heads cannot be shared out among {K} ranks.",
            "With fewer KV heads than ranks, let K divide the heads, and the KV heads divide K.",
        )
    key = r * kv_heads // K
    return range(r * heads // K, (r + 1) * heads // K), range(key, key + 1)


def stretch(heads: range, d: int, before: int) -> range:
    """The outputs of these heads, d each, where ``before`` other heads precede head 0."""
    return range((before + heads.start) * d, (before + heads.stop) * d)


def kv_groups(kv_heads: int, group: Group = None) -> Group:
    """The group of the ranks that share this rank's KV head, if there are fewer such heads than ranks; else None. All
    ranks of ``group`` must call it."""
    K = dist.get_world_size(group)
    if kv_heads >= K:
        return None
    size, ranks = K // kv_heads, dist.get_process_group_ranks(group) if group else list(range(K))
    first = dist.get_rank(group) // size * size
    made: Group = dist.new_group(ranks[first : first + size], use_local_synchronization=True)
    return made
