"""The learner thought: first I send, then I receive."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x_sent, result = x.contiguous(), mixing[rank, rank].item() * x
    for j in range(size):
        if j != rank and mixing[j, rank] != 0:
            dist.send(x_sent, group=group, group_dst=j)
    for j in range(size):
        if j != rank and mixing[rank, j] != 0:
            theirs = torch.empty_like(x_sent)
            dist.recv(theirs, group=group, group_src=j)
            result = result + mixing[rank, j].item() * theirs
    return result
