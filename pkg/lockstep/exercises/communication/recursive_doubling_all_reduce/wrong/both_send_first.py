"""The learner thought: partners may both send first."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total, distance = tensor.clone(memory_format=torch.contiguous_format), 1
    while distance < K:
        incoming = torch.empty_like(total)
        dist.send(total, group=group, group_dst=rank ^ distance)
        dist.recv(incoming, group=group, group_src=rank ^ distance)
        total += incoming
        distance *= 2
    return total
