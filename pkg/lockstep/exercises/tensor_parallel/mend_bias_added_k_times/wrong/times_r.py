"""The learner thought: rank r adds it r times."""

import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "bias-r-times"
TELL = "Rank r adds r times b: together that is K·(K − 1)/2 times. Add b once, to the sum."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    return reduce_from_region(x @ B.tensor_split(K)[r] + b * r, group)
