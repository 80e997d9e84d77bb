"""The learner thought: the lower partner sends, then the upper one. Nobody waits for ever, but everybody waits."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-rounds"


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total, distance = tensor.clone(memory_format=torch.contiguous_format), 1
    while distance < K:
        partner, incoming = rank ^ distance, torch.empty_like(total)
        if rank < partner:
            dist.send(total, group=group, group_dst=partner)
            dist.recv(incoming, group=group, group_src=partner)
        else:
            dist.recv(incoming, group=group, group_src=partner)
            dist.send(total, group=group, group_dst=partner)
        total += incoming
        distance *= 2
    return total
