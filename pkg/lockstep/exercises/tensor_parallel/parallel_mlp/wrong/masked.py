"""The learner thought: what isn't mine I set to zero."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "too-many-flops"
TELL = (
    "You compute all products and set to zero what other ranks do. Cut the matrices first: then each rank"
    " multiplies its part only."
)


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    mine = own(A.shape[1], group)
    mask = torch.zeros_like(a)
    mask[mine] = 1
    inside = F.gelu(copy_to_region(x, group) @ A + a) * mask
    return reduce_from_region(inside @ B, group) + b
