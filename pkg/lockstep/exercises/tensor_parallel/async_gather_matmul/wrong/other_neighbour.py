"""The learner thought: in step s I have the shard of rank r + s. Shards go to the right, so it is r - s."""

import torch
import torch.distributed as dist

MISCONCEPTION = "wrong-owner"
TELL = "Your products are right, and stand in each other's places: that of rank r - s is where rank r + s belongs, and the other way round. Whose rows are the first that arrive, your left or your right neighbour's?"


def async_gather_matmul(x, A, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    shard, parts = x.contiguous(), [None] * K
    for step in range(K):
        works, coming = [], torch.empty_like(shard)
        if step < K - 1:
            works = [
                dist.isend(shard, group=group, group_dst=(r + 1) % K),
                dist.irecv(coming, group=group, group_src=(r - 1) % K),
            ]
        parts[(r + step) % K] = shard @ A
        for work in works:
            work.wait()
        shard = coming
    return torch.cat(parts)
