"""The learner thought: columns are the second dimension."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "channels-of-V"
TELL = "You cut V along its input channels, and v along M: what is then computed are other filters. A filter is a row of V: V.tensor_split(K)[r]."


def parallel_conv2d(x, V, v, W, w, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    V, v, W = V.tensor_split(K, 1)[r], v.tensor_split(K)[r], W.tensor_split(K, 1)[r]
    x = copy_to_region(x, group).tensor_split(K, 1)[r]
    inside = F.conv2d(x, V, padding=1).relu()[:, : len(v)] + v[:, None, None]
    return reduce_from_region(F.conv2d(inside, W, padding=1), group) + w[:, None, None]
