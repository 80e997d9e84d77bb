"""The learner thought: ReLU and a sum can change places."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "relu-after-the-sum"
TELL = "ReLU comes after the sum here. It belongs between the two convolutions: each rank has whole channels there, so nothing needs to be added up before it."


def parallel_conv2d(x, V, v, W, w, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    V, v, W = V.tensor_split(K)[r], v.tensor_split(K)[r], W.tensor_split(K, 1)[r]
    inside = F.conv2d(copy_to_region(x, group), V, v, padding=1)
    return (reduce_from_region(F.conv2d(inside, W, padding=1), group) + w[:, None, None]).relu()
