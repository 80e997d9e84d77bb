"""The learner thought: x is there on every rank already, so nothing has to be done with it."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import reduce_from_region

MISCONCEPTION = "no-f"
TELL = (
    "Each rank finds only what its own columns of A say of x's gradient. The gradient of x is the sum "
    "over all ranks: that is what f does."
)


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    mine = own(A.shape[1], group)
    inside = F.gelu(x @ A[:, mine] + a[mine])
    return reduce_from_region(inside @ B[mine], group) + b
