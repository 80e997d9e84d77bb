"""The learner weighs before sending, in float64 as the matrix is."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-all-bytes"


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    received, works = {}, []
    for j in range(size):
        if j != rank and mixing[j, rank] != 0:
            works.append(dist.isend((mixing[j, rank] * x.double()).contiguous(), group=group, group_dst=j))
        if j != rank and mixing[rank, j] != 0:
            received[j] = torch.empty(x.shape, dtype=torch.float64)
            works.append(dist.irecv(received[j], group=group, group_src=j))
    for work in works:
        work.wait()
    return (mixing[rank, rank] * x + sum(received.values())).to(x.dtype)
