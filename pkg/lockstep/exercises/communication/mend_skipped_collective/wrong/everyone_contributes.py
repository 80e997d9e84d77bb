"""The learner thought: the condition is the bug."""

import torch.distributed as dist

MISCONCEPTION = "sums-everyone"
TELL = "Tensors that sum to 0 or less are in it. A rank with such a tensor takes part with zeros."


def mend_skipped_collective(tensor, group=None):
    total = tensor.clone().contiguous()
    dist.all_reduce(total, group=group)
    return total
