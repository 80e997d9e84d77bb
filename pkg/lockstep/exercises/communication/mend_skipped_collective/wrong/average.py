"""The learner thought: all-reduce averages."""

import torch
import torch.distributed as dist

MISCONCEPTION = "averages"
TELL = "This is the average; the exercise asks for the sum."


def mend_skipped_collective(tensor, group=None):
    total = tensor.clone().contiguous() if tensor.sum() > 0 else torch.zeros_like(tensor).contiguous()
    dist.all_reduce(total, group=group)
    return (total / dist.get_world_size(group)).to(tensor.dtype)
