"""The learner thought: a bias is added whole."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "crashed:RankRaised"
TELL = "a has m numbers, and a rank's part of x·A fewer: a is cut as A's columns are."
RAISES = "must match the size of tensor b"


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    mine = own(A.shape[1], group)
    inside = F.gelu(copy_to_region(x, group) @ A[:, mine] + a)
    return reduce_from_region(inside @ B[mine], group) + b
