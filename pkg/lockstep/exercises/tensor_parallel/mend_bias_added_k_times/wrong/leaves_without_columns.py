"""The learner thought: Who has no columns has nothing to add, and need not take part."""

import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import reduce_from_region

MISCONCEPTION = "crashed:Deadlock"
TELL = "A rank without columns returns before the all-reduce, and the others wait for it. Its summand is zeros: add them up, too."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    if not x.shape[1]:
        return x @ B.tensor_split(K)[r] + b
    return reduce_from_region(x @ B.tensor_split(K)[r], group) + b
