"""The learner thought: the others only have to wait until it is over."""

import torch.distributed as dist

MISCONCEPTION = "crashed:Mismatch"


def mend_skipped_collective(tensor, group=None):
    total = tensor.clone().contiguous()
    if tensor.sum() > 0:
        dist.all_reduce(total, group=group)
    else:
        dist.barrier(group=group)
    return total
