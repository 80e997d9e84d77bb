"""The learner thought: columns are the right way to cut a matrix."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "not-its-part"
TELL = (
    "Both matrices are cut by columns: then all of GeLU's results have to be collected between them, n·m "
    "numbers. Each rank has just the numbers that its rows of B need."
)


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    up, down = own(A.shape[1], group), own(B.shape[1], group)
    inside, out = x.new_zeros(len(x), A.shape[1]), x.new_zeros(len(x), B.shape[1])
    inside[:, up] = F.gelu(copy_to_region(x, group) @ A[:, up] + a[up])
    inside = copy_to_region(reduce_from_region(inside, group), group)
    out[:, down] = inside @ B[:, down]
    return reduce_from_region(out, group) + b
