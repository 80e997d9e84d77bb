"""The learner thought: m/K rows each."""

import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "crashed:RankRaised"
TELL = "Your part of B has another number of rows than x has columns: K may not divide m. torch.tensor_split cuts as x was cut."
RAISES = "mat1 and mat2 shapes cannot be multiplied"


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    each = len(B) // K
    return reduce_from_region(x @ B[r * each : (r + 1) * each], group) + b
