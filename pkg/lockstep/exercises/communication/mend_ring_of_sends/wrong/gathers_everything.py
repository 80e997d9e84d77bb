"""The learner thought: a collective cannot deadlock, and the neighbour's tensor is among the others."""

import torch
import torch.distributed as dist

MISCONCEPTION = "gathers-everything"
TELL = "Every rank receives all tensors, and needs one."


def mend_ring_of_sends(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    tensor = tensor.contiguous()
    everything = [torch.empty_like(tensor) for _ in range(K)]
    dist.all_gather(everything, tensor, group=group)
    return everything[r - 1]
