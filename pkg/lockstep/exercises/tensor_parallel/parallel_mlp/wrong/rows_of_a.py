"""The learner thought: A[mine] is my part of A."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "crashed:RankRaised"
TELL = (
    "A[mine] are rows of A, A[:, mine] are columns. x has h columns, so it needs all h rows of A; of B a "
    "rank needs the rows that belong to its columns of A."
)
RAISES = "mat1 and mat2 shapes cannot be multiplied"


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    mine = own(A.shape[1], group)
    inside = F.gelu(copy_to_region(x, group) @ A[mine] + a[mine])
    return reduce_from_region(inside @ B[mine], group) + b
