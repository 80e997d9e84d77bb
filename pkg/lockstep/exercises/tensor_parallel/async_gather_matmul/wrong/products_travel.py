"""The learner sends products round the ring: they are made with another rank's A."""

import torch
import torch.distributed as dist

MISCONCEPTION = "products-travel"
TELL = "You gather products: the rows that come from another rank were multiplied by its own columns of A. Let X travel, and multiply it by yours."


def async_gather_matmul(x, A, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    part, parts = x @ A, [None] * K
    for step in range(K):
        parts[(r - step) % K] = part
        if step < K - 1:
            coming = torch.empty_like(part)
            works = [
                dist.isend(part, group=group, group_dst=(r + 1) % K),
                dist.irecv(coming, group=group, group_src=(r - 1) % K),
            ]
            for work in works:
                work.wait()
            part = coming
    return torch.cat(parts)
