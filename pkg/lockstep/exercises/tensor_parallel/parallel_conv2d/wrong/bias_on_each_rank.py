"""The learner thought: conv2d adds its bias."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "bias-on-each-rank"
TELL = "Each rank adds w to its summand, so the sum has it K times. Add it once, after g."


def parallel_conv2d(x, V, v, W, w, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    V, v, W = V.tensor_split(K)[r], v.tensor_split(K)[r], W.tensor_split(K, 1)[r]
    inside = F.conv2d(copy_to_region(x, group), V, v, padding=1).relu()
    return reduce_from_region(F.conv2d(inside, W, w, padding=1), group)
