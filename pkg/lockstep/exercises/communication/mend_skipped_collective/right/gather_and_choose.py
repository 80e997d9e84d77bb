"""Everyone gathers all tensors and adds those that count."""

import torch
import torch.distributed as dist


def mend_skipped_collective(tensor, group=None):
    K = dist.get_world_size(group)
    everything = [torch.empty_like(tensor, memory_format=torch.contiguous_format) for _ in range(K)]
    dist.all_gather(everything, tensor.contiguous(), group=group)
    return sum((t for t in everything if t.sum() > 0), start=torch.zeros_like(tensor))
