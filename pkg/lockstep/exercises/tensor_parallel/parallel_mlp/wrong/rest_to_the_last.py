"""The learner thought: the last rank takes what is left."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "rest-to-the-last-rank"
TELL = "The last rank takes all that is left. Parts should differ by one at most: the first m % K ranks have one more."


def parallel_mlp(x, A, a, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    each = A.shape[1] // K
    mine = slice(r * each, (r + 1) * each if r < K - 1 else None)
    inside = F.gelu(copy_to_region(x, group) @ A[:, mine] + a[mine])
    return reduce_from_region(inside @ B[mine], group) + b
