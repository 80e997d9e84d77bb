"""The learner thought: each adds its share."""

import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "share-of-the-bias"
TELL = "Each rank adds b/K: the outputs are right, but each rank's gradient of b is 1/K of what it should be. Add b to the sum."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    return reduce_from_region(x @ B.tensor_split(K)[r] + b / K, group)
