"""The learner thought: it looks right."""

import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "bias-on-each-rank"
TELL = "Each rank still adds b to its summand, so the sum has it K times."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    return reduce_from_region(x @ B.tensor_split(K)[r] + b, group)
