"""The learner waits for each neighbour before turning to the next one."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-early-waits"


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x_sent, result = x.contiguous(), mixing[rank, rank].item() * x
    for source in range(size):
        for target in range(size):
            if source == target or mixing[target, source] == 0:
                continue
            if rank == source:
                dist.send(x_sent, group=group, group_dst=target)
            if rank == target:
                theirs = torch.empty_like(x_sent)
                dist.recv(theirs, group=group, group_src=source)
                result = result + mixing[target, source].item() * theirs
    return result
