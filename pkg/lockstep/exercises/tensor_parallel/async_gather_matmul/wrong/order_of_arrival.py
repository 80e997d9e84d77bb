"""The learner put products one below the other, in the order in which shards came."""

import torch
import torch.distributed as dist

MISCONCEPTION = "order-of-arrival"
TELL = (
    "Your rows are in the order in which their shards came, your own first. Y has rank 0's rows first, on every rank."
)
VARIANTS = ["order_of_arrival_from_the_right"]


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
        parts[step] = shard @ A
        for work in works:
            work.wait()
        shard = coming
    return torch.cat(parts)
