"""The lab's ring attention as a short function on plain tensors: zig-zag, causal, forward only."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.context_parallel.layout import Layout
from lockstep.context_parallel.ring_attention import ring_attention as ring

Group = dist.ProcessGroup | None


def zigzag_ring_attention(q: Tensor, k: Tensor, v: Tensor, group: Group = None) -> Tensor:
    """Causal attention over all ranks' positions, at this rank's: (H, 2c, d), as ``q``, ``k`` and ``v``. Rank r of K
    has the chunks r and 2K - 1 - r of 2K, c positions each. Raises UsageError for other shapes."""
    K = dist.get_world_size(group)
    with torch.no_grad():
        out: Tensor = ring(q[None], k[None], v[None], Layout(q.shape[1] * K, K), group)[0]
    return out
