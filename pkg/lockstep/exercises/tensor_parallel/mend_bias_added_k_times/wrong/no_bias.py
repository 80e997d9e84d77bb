"""The learner thought: what is added too often is left out."""

import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "no-bias"
TELL = "b is in no output now. Add it once, to the sum."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    return reduce_from_region(x @ B.tensor_split(K)[r], group)
