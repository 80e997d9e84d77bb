"""Tensor-parallel layers as functions of whole weights: each rank takes its own part of them, and computes with that.

    x                  alike on all ranks, or a rank's positions of it
    A, a, B, b         whole weights and biases, alike on all ranks: Z = GeLU(x·A + a)·B + b

So the gradient of A is that of the rank's own part, and zero elsewhere: over all ranks they add up to the gradient on
one rank. Whatever every rank uses whole (x, b, a norm's weights) has its whole gradient on every rank.

These, ``f_and_g.regions`` and ``vocabulary.cross_entropy_of_columns`` are the lab's answers. ``linear``, ``attention``
and ``transformer`` have the same layers as modules that hold only their parts.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.tensor_parallel.attention import causal, heads_of
from lockstep.tensor_parallel.f_and_g import (
    Group,
    copy_to_region,
    gather_from_sequence,
    own,
    reduce_from_region,
    reduce_scatter_to_sequence,
)


def parallel_mlp(x: Tensor, A: Tensor, a: Tensor, B: Tensor, b: Tensor, group: Group = None) -> Tensor:
    """(n, h) to (n, h), on every rank. A (h, m), a (m,), B (m, h), b (h,)."""
    mine = own(A.shape[1], group)
    inside = F.gelu(copy_to_region(x, group) @ A[:, mine] + a[mine])
    return reduce_from_region(inside @ B[mine], group) + b


def parallel_attention(
    x: Tensor, Q: Tensor, K: Tensor, V: Tensor, W: Tensor, heads: int, group: Group = None
) -> Tensor:  # fmt: skip
    """(n, T, h) to (n, T, h), on every rank. Q (h, heads·d), K and V (h, kv_heads·d), W (heads·d, h)."""
    d = Q.shape[1] // heads
    queries, keys = heads_of(dist.get_rank(group), dist.get_world_size(group), heads, K.shape[1] // d)
    of_queries, of_keys = (slice(which.start * d, which.stop * d) for which in (queries, keys))
    x = copy_to_region(x, group)
    parts = (x @ Q[:, of_queries], x @ K[:, of_keys], x @ V[:, of_keys])
    query, key, value = (part.reshape(*part.shape[:-1], -1, d).transpose(1, 2) for part in parts)
    inside = causal(query, key, value).transpose(1, 2).flatten(2)
    return reduce_from_region(inside @ W[of_queries], group)


def parallel_conv2d(x: Tensor, V: Tensor, v: Tensor, W: Tensor, w: Tensor, group: Group = None) -> Tensor:
    """Two convolutions with ReLU between them: (n, C, y, x) to (n, D, y, x). V (M, C, 3, 3), W (D, M, 3, 3), v and w
    their biases."""
    mine = own(len(V), group)
    inside = F.conv2d(copy_to_region(x, group), V[mine], v[mine], padding=1).relu()
    return reduce_from_region(F.conv2d(inside, W[:, mine], padding=1), group) + w[:, None, None]


def sequence_parallel(
    x: Tensor, weight: Tensor, bias: Tensor, A: Tensor, a: Tensor, B: Tensor, b: Tensor, group: Group = None
) -> Tensor:  # fmt: skip
    """A norm, an MLP and a residual sum: (n, T/K, h), this rank's positions, to the same shape."""
    weight, bias, b = (copy_to_region(p, group) for p in (weight, bias, b))
    mine = own(A.shape[1], group)
    whole = gather_from_sequence(F.layer_norm(x, x.shape[-1:], weight, bias), group=group)
    inside = F.gelu(whole @ A[:, mine] + a[mine]) @ B[mine]
    return x + reduce_scatter_to_sequence(inside, group=group) + b


# ---- two functions with a bug, and the same without it


def bias_added_k_times(x: Tensor, B: Tensor, b: Tensor, group: Group = None) -> Tensor:
    """A row-parallel layer with a bug: (n, m/K) to (n, h). B (m, h), b (h,)."""
    total = x @ B[own(len(B), group)] + b
    return reduce_from_region(total, group)


def bias_added_once(x: Tensor, B: Tensor, b: Tensor, group: Group = None) -> Tensor:
    """The same without the bug."""
    return reduce_from_region(x @ B[own(len(B), group)], group) + b


def unsynced_layernorm(x: Tensor, weight: Tensor, bias: Tensor, group: Group = None) -> Tensor:
    """A LayerNorm of this rank's positions (n, T/K, h), gathered from all ranks to (n, T, h); with a bug."""
    return gather_from_sequence(F.layer_norm(x, x.shape[-1:], weight, bias), group=group)


def synced_layernorm(x: Tensor, weight: Tensor, bias: Tensor, group: Group = None) -> Tensor:
    """The same without the bug: one all-reduce for both gradients."""
    weight, bias = copy_to_region(torch.stack([weight, bias]), group)
    return gather_from_sequence(F.layer_norm(x, x.shape[-1:], weight, bias), group=group)
