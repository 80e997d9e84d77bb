"""The learner thought: g comes first, f last."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "f-and-g-exchanged"
TELL = (
    "g adds up x, which is alike on all ranks, K times; and f doesn't add up the summands. f stands where"
    " all ranks begin with the same, g where their summands become one."
)


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    mine = own(A.shape[1], group)
    inside = F.gelu(reduce_from_region(x, group) @ A[:, mine] + a[mine])
    return copy_to_region(inside @ B[mine], group) + b
