"""Ulysses: before attention an all-to-all gives each rank all positions of some heads, after it another one returns the
results.

    H heads, T positions, K ranks: rank r has T/K positions of all heads, then all positions of H/K heads, then again

    rank 0    q, k, v: its positions, all heads ──┐ all-to-all ┌── all positions, its heads ── attention ──┐ all-to-all
    rank 1    q, k, v: its positions, all heads ──┴────────────┴── all positions, its heads ── attention ──┴───────────

    a rank sends   (K - 1)/K of its q, k and v, and of the result: (2H + 2G)·(T/K)·d·(K - 1)/K numbers forward, and as
                   many backward, where G heads have keys and values

Each number crosses once, however many ranks there are; in ``ring_attention`` keys and values pass K - 1 times. But no
more ranks than heads of keys and values can serve, all-to-all crosses every link at once, and nothing hides it.
Attention itself is any, as on one rank; causal or not, each rank has as much to do as any other, in any layout.

Source: Jacobs et al., "DeepSpeed Ulysses", arXiv:2309.14509.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.context_parallel.layout import Layout
from lockstep.errors import UsageError

Group = dist.ProcessGroup | None
Core = Callable[[Tensor, Tensor, Tensor], Tensor]


def causal(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)


def ulysses_attention(
    q: Tensor, k: Tensor, v: Tensor, layout: Layout, group: Group = None, core: Core = causal
) -> Tensor:
    """This rank's rows of attention over all T positions, (b, H, t, d), as q. Differentiable.

    q is (b, H, t, d), k and v (b, G, t, d), for the t = ``layout.length(r)`` positions of rank r, in their order.
    ``core`` gets (b, H/K, T, d) and (b, G/K, T, d), in the sequence's order. Raises UsageError unless K divides G and
    G divides H."""
    K, H, G = dist.get_world_size(group), q.shape[1], k.shape[1]
    if G % K or H % G:
        raise UsageError(
            f"{K} ranks can't share {H} heads of queries and {G} of keys and values.",
            "Take a number of ranks that divides the KV heads, or ring attention.",
        )
    return to_positions(core(*to_heads(q, k, v, layout, group)), layout, group)


def to_heads(q: Tensor, k: Tensor, v: Tensor, layout: Layout, group: Group = None) -> tuple[Tensor, Tensor, Tensor]:
    """The first all-to-all: each (b, heads, t, d), some positions of all heads, to (b, heads/K, T, d), all positions of
    some heads, in the sequence's order."""
    parts = [torch.cat(each, dim=1) for each in zip(*(x.chunk(layout.K, dim=1) for x in (q, k, v)), strict=True)]
    received = exchange(parts, [layout.length(s) for s in range(layout.K)], group)
    every = torch.cat(received, dim=-2).index_select(-2, torch.argsort(order(layout)).to(q.device))
    own_q, own_k, own_v = torch.split(every, [x.shape[1] // layout.K for x in (q, k, v)], dim=1)
    return own_q, own_k, own_v


def to_positions(x: Tensor, layout: Layout, group: Group = None) -> Tensor:
    """The second: (b, H/K, T, d) back to (b, H, t, d)."""
    lengths = [layout.length(s) for s in range(layout.K)]
    parts = torch.split(x.index_select(-2, order(layout).to(x.device)), lengths, dim=-2)
    return torch.cat(exchange(parts, [lengths[dist.get_rank(group)]] * layout.K, group), dim=1)


def order(layout: Layout) -> Tensor:
    """All positions, rank by rank."""
    return torch.cat([layout.positions(r) for r in range(layout.K)])


def exchange(parts: Sequence[Tensor], lengths: Sequence[int], group: Group) -> tuple[Tensor, ...]:
    """``parts[s]``, (b, heads, positions, d), goes to rank s; rank s's, with ``lengths[s]`` positions, are returned."""
    received: tuple[Tensor, ...] = AllToAll.apply(lengths, group, *parts)  # type: ignore[no-untyped-call]
    return received


class AllToAll(torch.autograd.Function):
    """``exchange``, whose gradients take the way back."""

    @staticmethod
    def forward(ctx: Any, lengths: Sequence[int], group: Group, *parts: Tensor) -> tuple[Tensor, ...]:
        ctx.rest = [part.shape[-2] for part in parts], group
        return all_to_all(parts, lengths, group)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        sent, group = ctx.rest
        return None, None, *all_to_all(gradients, sent, group)


def all_to_all(parts: Sequence[Tensor], lengths: Sequence[int], group: Group) -> tuple[Tensor, ...]:
    shapes = [(*parts[0].shape[:-2], length, parts[0].shape[-1]) for length in lengths]
    sizes = [math.prod(shape) for shape in shapes]
    received = parts[0].new_empty(sum(sizes))
    sent = torch.cat([part.flatten() for part in parts])
    dist.all_to_all_single(received, sent, sizes, [part.numel() for part in parts], group=group)
    return tuple(part.view(shape) for part, shape in zip(torch.split(received, sizes), shapes, strict=True))


def ulysses(q: Tensor, k: Tensor, v: Tensor, attend: Core, lengths: Sequence[int], group: Group = None) -> Tensor:
    """The same of one sequence, (H, t, d) and (G, t, d), where rank r has ``lengths[r]`` positions behind those of rank
    r - 1; ``attend`` gets (H/K, T, d) and (G/K, T, d)."""
    K = dist.get_world_size(group)
    parts = [torch.cat(part) for part in zip(*(x.chunk(K) for x in (q, k, v)), strict=True)]
    every = torch.cat(all_to_all(parts, lengths, group), dim=1)
    own = attend(*torch.split(every, [len(x) // K for x in (q, k, v)]))
    return torch.cat(all_to_all(torch.split(own, list(lengths), dim=1), [q.shape[1]] * K, group))
