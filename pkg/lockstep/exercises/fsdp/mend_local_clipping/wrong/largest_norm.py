"""The learner thought: the rank with the longest gradient decides."""

import torch
import torch.distributed as dist

MISCONCEPTION = "largest-norm"
TELL = "You clip by the largest norm of a rank. The norm of all shards is longer than that of any part."


def mend_local_clipping(gradients, max_norm, group=None):
    norm = torch.cat(gradients).norm()
    dist.all_reduce(norm, op=dist.ReduceOp.MAX, group=group)
    scale = torch.clamp(max_norm / norm, max=1.0)
    return [g * scale for g in gradients]
