"""The learner thought: my rank is dist.get_rank()."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "world-ranks"
TELL = (
    "Your part is cut by the rank and the size of the world. In a group these are others: "
    "dist.get_rank(group), dist.get_world_size(group)."
)


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    mine = own(A.shape[1], None)
    inside = F.gelu(copy_to_region(x, group) @ A[:, mine] + a[mine])
    return reduce_from_region(inside @ B[mine], group) + b
