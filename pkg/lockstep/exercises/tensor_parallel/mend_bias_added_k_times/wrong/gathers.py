"""The learner thought: gather the summands and add them up."""

import torch
import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "gathers-summands"
TELL = "You gather every rank's summand: that carries K times what an all-reduce does, and autograd sees nothing of it."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    mine = x @ B.tensor_split(K)[r]
    parts = [torch.empty_like(mine) for _ in range(K)]
    dist.all_gather(parts, mine, group=group)
    return sum(parts) + b
