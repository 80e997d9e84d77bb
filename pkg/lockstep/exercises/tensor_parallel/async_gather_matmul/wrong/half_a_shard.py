"""The learner waits in the middle of each product."""

import torch
import torch.distributed as dist

MISCONCEPTION = "little-overlap"


def async_gather_matmul(x, A, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    half = (len(x) + 1) // 2
    shard, parts = x.contiguous(), [None] * K
    for step in range(K):
        works, coming = [], torch.empty_like(shard)
        if step < K - 1:
            works = [
                dist.isend(shard, group=group, group_dst=(r + 1) % K),
                dist.irecv(coming, group=group, group_src=(r - 1) % K),
            ]
        first = shard[:half] @ A
        for work in works:
            work.wait()
        parts[(r - step) % K] = torch.cat([first, shard[half:] @ A])
        shard = coming
    return torch.cat(parts)
