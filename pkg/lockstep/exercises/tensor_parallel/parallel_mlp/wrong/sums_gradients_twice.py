"""The learner thought: all-reduce that autograd knows is g."""

import torch.distributed as dist
from torch.distributed.nn.functional import all_reduce
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region

MISCONCEPTION = "g-both-ways"
TELL = (
    "Your all-reduce adds up in the backward pass, too, where all ranks have the same gradient: all that "
    "stands before it is K times too large. g copies backward."
)


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    mine = own(A.shape[1], group)
    inside = F.gelu(copy_to_region(x, group) @ A[:, mine] + a[mine])
    total = inside @ B[mine]
    return all_reduce(total, group=dist.group.WORLD if group is None else group) + b
