"""The learner thought: forward, x is what it is."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "no-f"
TELL = "The gradient of x is one rank's summand: each rank has sent x through its own filters. f adds them up in the backward pass."


def parallel_conv2d(x, V, v, W, w, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    V, v, W = V.tensor_split(K)[r], v.tensor_split(K)[r], W.tensor_split(K, 1)[r]
    inside = F.conv2d(x, V, v, padding=1).relu()
    return reduce_from_region(F.conv2d(inside, W, padding=1), group) + w[:, None, None]
