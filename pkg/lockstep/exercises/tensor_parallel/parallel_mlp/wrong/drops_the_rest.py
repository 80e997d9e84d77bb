"""The learner thought: each rank has m // K columns."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "drops-the-rest"
TELL = "m // K columns for each rank leave m % K of them to nobody. The first m % K ranks have one more."


def parallel_mlp(x, A, a, B, b, group=None):
    each, r = A.shape[1] // dist.get_world_size(group), dist.get_rank(group)
    mine = slice(r * each, (r + 1) * each)
    inside = F.gelu(copy_to_region(x, group) @ A[:, mine] + a[mine])
    return reduce_from_region(inside @ B[mine], group) + b
