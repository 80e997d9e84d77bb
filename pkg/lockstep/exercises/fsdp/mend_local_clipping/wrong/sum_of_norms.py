"""The learner thought: norms add up."""

import torch
import torch.distributed as dist

MISCONCEPTION = "adds-norms"
TELL = "You add up the ranks' norms. Squares can be added, norms cannot: 3 and 4 make 5."


def mend_local_clipping(gradients, max_norm, group=None):
    norm = torch.cat(gradients).norm()
    dist.all_reduce(norm, group=group)
    scale = torch.clamp(max_norm / norm, max=1.0)
    return [g * scale for g in gradients]
