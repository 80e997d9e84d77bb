"""The learner thought: both partners have a part, so two parts arrive."""

import torch
import torch.distributed as dist

MISCONCEPTION = "adds-twice"
TELL = "At a distance you add what arrives, and then add it once more: each partner's part counts twice."


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total, distance = tensor.clone(memory_format=torch.contiguous_format), 1
    while distance < K:
        incoming = torch.empty_like(total)
        sending = dist.isend(total.clone(), group=group, group_dst=rank ^ distance)
        dist.recv(incoming, group=group, group_src=rank ^ distance)
        sending.wait()
        total += 2 * incoming
        distance *= 2
    return total
