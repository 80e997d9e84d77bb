"""The learner used send and recv, on all ranks in this order: everybody sends, and nobody receives."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def async_gather_matmul(x, A, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    shard, parts = x.contiguous(), [None] * K
    for step in range(K):
        parts[(r - step) % K] = shard @ A
        if step < K - 1:
            coming = torch.empty_like(shard)
            dist.send(shard, group=group, group_dst=(r + 1) % K)
            dist.recv(coming, group=group, group_src=(r - 1) % K)
            shard = coming
    return torch.cat(parts)
