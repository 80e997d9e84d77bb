"""Flat parameters and their shards: a layer's parameters in one vector, cut into K equal pieces.

    N       numbers in the vector
    K, r    ranks of the group, this one's number in it
    n       ceil(N/K), the length of every shard: the last one is padded with zeros where K does not divide N

    flat    │ w0 w1 w2 w3 w4 w5 w6 │ 0        N = 7, K = 4, n = 2
    shards  │ w0 w1 │ w2 w3 │ w4 w5 │ w6 0 │   of ranks 0, 1, 2, 3

FlatParameter of FSDP (Zhao et al., arXiv:2304.11277, section 4.2) is this vector; ZeRO (Rajbhandari et al.,
arXiv:1910.02054, section 5) cuts all parameters in this way.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor


def shard_length(N: int, K: int) -> int:
    """n = ceil(N/K), the length of a shard of N numbers on K ranks."""
    return -(-N // K)


def padded(flat: Tensor, K: int) -> Tensor:
    """``flat`` (N,), padded with zeros at the end to K equal shards: (K·n,)."""
    return torch.nn.functional.pad(flat, (0, K * shard_length(len(flat), K) - len(flat)))


def shard_of(flat: Tensor, r: int, K: int) -> Tensor:
    """The r-th of K shards of ``flat`` (N,), a copy: (n,)."""
    n = shard_length(len(flat), K)
    return padded(flat, K)[r * n : (r + 1) * n].clone()


def gathered(shard: Tensor, N: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """The whole vector (N,) from the shards of all ranks: one all-gather."""
    whole = shard.new_empty(dist.get_world_size(group) * len(shard))
    dist.all_gather_into_tensor(whole, shard, group=group)
    return whole[:N]


def reduced_shard(flat: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """This rank's shard of the *mean* of all ranks' vectors (N,): one reduce-scatter. (n,)"""
    K = dist.get_world_size(group)
    shard = flat.new_empty(shard_length(len(flat), K))
    dist.reduce_scatter_tensor(shard, padded(flat, K), group=group)
    return shard / K
