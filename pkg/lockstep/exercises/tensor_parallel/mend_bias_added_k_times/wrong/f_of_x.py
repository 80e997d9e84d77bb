"""The learner thought: where there is a g, there is an f: x goes through it."""

import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "f-of-own-columns"
TELL = "f is for what is alike on all ranks. x is this rank's own: f adds up gradients of columns that have nothing to do with each other."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    return reduce_from_region(copy_to_region(x, group) @ B.tensor_split(K)[r], group) + b
