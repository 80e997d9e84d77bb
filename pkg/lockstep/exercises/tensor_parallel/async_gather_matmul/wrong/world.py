"""The learner took ranks of the world for neighbours."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def async_gather_matmul(x, A, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    shard, parts = x.contiguous(), [None] * K
    for step in range(K):
        works, coming = [], torch.empty_like(shard)
        if step < K - 1:
            works = [
                dist.isend(shard, group=group, dst=(r + 1) % K),
                dist.irecv(coming, group=group, src=(r - 1) % K),
            ]
        parts[(r - step) % K] = shard @ A
        for work in works:
            work.wait()
        shard = coming
    return torch.cat(parts)
