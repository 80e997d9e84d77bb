"""The learner counts in the world, and not in the group."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(), dist.get_world_size()
    x_sent, received, works = x.contiguous(), {}, []
    for j in range(size):
        if j != rank and mixing[j, rank] != 0:
            works.append(dist.isend(x_sent, j))
        if j != rank and mixing[rank, j] != 0:
            received[j] = torch.empty_like(x_sent)
            works.append(dist.irecv(received[j], j))
    for work in works:
        work.wait()
    result = mixing[rank, rank].item() * x
    for j, theirs in received.items():
        result = result + mixing[rank, j].item() * theirs
    return result
