"""The learner thought: leaving out negative tensors is leaving out negative numbers."""

import torch.distributed as dist

MISCONCEPTION = "clamps-elements"
TELL = "Negative elements are lost. It is the sum of a tensor that decides whether all of it counts, or nothing."


def mend_skipped_collective(tensor, group=None):
    total = tensor.clamp(min=0).contiguous()
    dist.all_reduce(total, group=group)
    return total
