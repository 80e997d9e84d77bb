"""Multiplies each shard by the columns of A in two blocks, into its place of Y."""

import torch
import torch.distributed as dist


def async_gather_matmul(x, A, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    n, shard = len(x), x.contiguous()
    y = x.new_empty(K * n, A.shape[1])
    half = (A.shape[1] + 1) // 2
    for step in range(K):
        works, coming = [], torch.empty_like(shard)
        if step + 1 < K:
            works = dist.batch_isend_irecv(
                [
                    dist.P2POp(dist.irecv, coming, group=group, group_peer=(r - 1) % K),
                    dist.P2POp(dist.isend, shard, group=group, group_peer=(r + 1) % K),
                ]
            )
        rows = y[(r - step) % K * n :][:n]
        rows[:, :half] = shard @ A[:, :half]
        rows[:, half:] = shard @ A[:, half:]
        for work in works:
            work.wait()
        shard = coming
    return y
