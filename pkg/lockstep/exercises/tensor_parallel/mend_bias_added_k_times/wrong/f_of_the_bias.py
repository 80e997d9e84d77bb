"""The learner thought: b is alike on all ranks, and so it needs f."""

import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "f-after-the-sum"
TELL = "f adds up the gradients of all ranks, but after g each rank has the whole gradient of b already: now it is K times as large. f belongs where gradients are summands."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    return reduce_from_region(x @ B.tensor_split(K)[r], group) + copy_to_region(b, group)
