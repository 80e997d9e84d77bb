"""The learner thought: the ranks are all ranks."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "ignores-group"


def parallel_conv2d(x, V, v, W, w, group=None):
    K, r = dist.get_world_size(), dist.get_rank()
    V, v, W = V.tensor_split(K)[r], v.tensor_split(K)[r], W.tensor_split(K, 1)[r]
    inside = F.conv2d(copy_to_region(x), V, v, padding=1).relu()
    return reduce_from_region(F.conv2d(inside, W, padding=1)) + w[:, None, None]
