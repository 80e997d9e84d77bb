"""The learner thought: the last distance is below K / 2."""

import torch
import torch.distributed as dist

MISCONCEPTION = "stops-early"
TELL = "You stop before distance K/2: each half of the ranks has its own sum, and never hears of the other."


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total, distance = tensor.clone(memory_format=torch.contiguous_format), 1
    while distance < K // 2:
        incoming = torch.empty_like(total)
        sending = dist.isend(total.clone(), group=group, group_dst=rank ^ distance)
        dist.recv(incoming, group=group, group_src=rank ^ distance)
        sending.wait()
        total += incoming
        distance *= 2
    return total
