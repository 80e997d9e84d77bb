"""The learner thought: M // K filters each."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "drops-the-remainder"
TELL = "You give each rank M // K filters. Where K doesn't divide M, the last ones are nobody's: torch.tensor_split gives them to the first ranks."


def parallel_conv2d(x, V, v, W, w, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    each = len(V) // K
    mine = slice(r * each, (r + 1) * each)
    V, v, W = V[mine], v[mine], W[:, mine]
    inside = F.conv2d(copy_to_region(x, group), V, v, padding=1).relu()
    return reduce_from_region(F.conv2d(inside, W, padding=1), group) + w[:, None, None]
