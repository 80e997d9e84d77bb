"""The learner averages with each neighbour in turn, with what came out of the last."""

import torch
import torch.distributed as dist

MISCONCEPTION = "neighbour-by-neighbour"
TELL = "You send on what you have already mixed. In one step all ranks send the x that they began with."


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x = x.contiguous()
    for step in range(1, size):
        to, origin = (rank + step) % size, (rank - step) % size
        works, theirs = [], torch.zeros_like(x)
        if mixing[to, rank] != 0:
            works.append(dist.isend(x, group=group, group_dst=to))
        if mixing[rank, origin] != 0:
            works.append(dist.irecv(theirs, group=group, group_src=origin))
        for work in works:
            work.wait()
        weight = mixing[rank, origin].item()
        x = (1 - weight) * x + weight * theirs
    return x
