"""A test of ring attention in zig-zag order: its values, and that no rank computes pairs of chunks in vain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.context_parallel.layout import Layout
from lockstep.errors import RunError
from lockstep.worlds import run

H, C, D, RANKS = 2, 2, 3, 4
PAIR = 4 * H * C * C * D  # FLOP of a chunk's queries with a chunk's keys and values
Attention = Callable[..., Tensor]


def is_balanced_ring(fn: Attention) -> bool:
    """Whether ``fn(q, k, v, group=None)`` is causal attention, right on each rank of each group, without collectives,
    and computes at most 2K + 2 pairs of chunks a rank. A function that fails or hangs is not."""
    try:
        for members, large in ([*range(RANKS)], 1), ([1, 3], 1), ([0, 1, 2], 60):
            if not all(run(_agrees, fn, members, large, ranks=RANKS, on="virtual", timeout=10).values):
                return False
        trace = run(_computes, fn, ranks=RANKS, on="virtual", timeout=10).trace
    except RunError:
        return False
    flops = [sum(event.flops for event in trace.of_rank(rank)) for rank in range(RANKS)]
    by_messages = all(event.kind in ("compute", "send", "recv") for event in trace)
    return by_messages and max(flops) <= (2 * RANKS + 2) * PAIR


def _agrees(fn: Attention, members: Sequence[int], large: float) -> bool:
    K, group = len(members), dist.new_group(list(members))
    if dist.get_rank() not in members:
        return True
    layout, r = Layout(2 * K * C, K), members.index(dist.get_rank())
    drawn = torch.Generator().manual_seed(5)
    whole = torch.randn(3, H, 2 * K * C, D, generator=drawn, dtype=torch.float64)
    whole[:2] *= large
    q, k, v = whole
    wanted = layout.part(torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True), r)
    out = fn(*(layout.part(t, r) for t in whole), group=group)
    return out.shape == wanted.shape and torch.allclose(out, wanted, rtol=1e-9, atol=1e-9)


def _computes(fn: Attention) -> None:
    drawn = torch.Generator().manual_seed(dist.get_rank())
    fn(*torch.randn(3, H, 2 * C, D, generator=drawn, dtype=torch.float64))
