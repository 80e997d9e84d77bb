"""The learner thought: one buffer is enough, what I send is gone."""

import torch
import torch.distributed as dist

MISCONCEPTION = "reads-before-wait"


def async_gather_matmul(x, A, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    shard, parts = x.contiguous().clone(), [None] * K
    for step in range(K):
        works, coming = [], shard
        if step < K - 1:
            works = [
                dist.isend(shard, group=group, group_dst=(r + 1) % K),
                dist.irecv(coming, group=group, group_src=(r - 1) % K),
            ]
        parts[(r - step) % K] = shard @ A
        for work in works:
            work.wait()
        shard = coming
    return torch.cat(parts)
