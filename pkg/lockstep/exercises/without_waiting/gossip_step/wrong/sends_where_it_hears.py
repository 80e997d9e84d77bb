"""The learner thought: neighbours are neighbours, so I send to those that I hear from."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x_sent, received, works = x.contiguous(), {}, []
    for j in range(size):
        if j != rank and mixing[rank, j] != 0:
            received[j] = torch.empty_like(x_sent)
            works.append(dist.isend(x_sent, group=group, group_dst=j))
            works.append(dist.irecv(received[j], group=group, group_src=j))
    for work in works:
        work.wait()
    result = mixing[rank, rank].item() * x
    for j, theirs in received.items():
        result = result + mixing[rank, j].item() * theirs
    return result
