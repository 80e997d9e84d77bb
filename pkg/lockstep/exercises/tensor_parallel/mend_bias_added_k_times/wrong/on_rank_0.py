"""The learner thought: one rank adds it."""

import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "bias-on-rank-0"
TELL = "Only rank 0 adds b: its output is right everywhere, but the other ranks' gradient of b is 0. They use it, too: add b to the sum, on every rank."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    y = x @ B.tensor_split(K)[r]
    return reduce_from_region(y + b if r == 0 else y + 0 * b, group)
