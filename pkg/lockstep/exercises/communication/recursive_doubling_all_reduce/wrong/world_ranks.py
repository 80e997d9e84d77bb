"""The learner thought: a rank of the group is a rank of the world."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(), dist.get_world_size()
    total, distance = tensor.clone(memory_format=torch.contiguous_format), 1
    while distance < K:
        incoming = torch.empty_like(total)
        sending = dist.isend(total.clone(), dst=rank ^ distance)
        dist.recv(incoming, src=rank ^ distance)
        sending.wait()
        total += incoming
        distance *= 2
    return total
