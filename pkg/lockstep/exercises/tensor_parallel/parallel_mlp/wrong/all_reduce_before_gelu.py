"""The learner thought: I sum before GeLU, as I have to, and cut the second matrix by columns."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "not-its-part"
TELL = (
    "You have cut A by rows and B by columns. That needs an all-reduce of n·m numbers before GeLU, and "
    "all numbers of the output have to be collected. The other way round, one all-reduce of n·h will do."
)


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    rows, columns = own(A.shape[0], group), own(B.shape[1], group)
    inside = F.gelu(reduce_from_region(copy_to_region(x, group)[:, rows] @ A[rows], group) + a)
    out = B.new_zeros(len(x), B.shape[1])
    out[:, columns] = copy_to_region(inside, group) @ B[:, columns]
    return reduce_from_region(out, group) + b
