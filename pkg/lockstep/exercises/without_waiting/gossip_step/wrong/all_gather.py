"""The learner thought: with all tensors here, it is one row times a matrix."""

import torch
import torch.distributed as dist

MISCONCEPTION = "gathers-everything"
TELL = "All ranks get all tensors. In gossip each hears from its neighbours only, those with mixing[i, j] ≠ 0, however many ranks there are."


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    everything = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(size)]
    dist.all_gather(everything, x.contiguous(), group=group)
    return sum(mixing[rank, j].item() * everything[j] for j in range(size))
