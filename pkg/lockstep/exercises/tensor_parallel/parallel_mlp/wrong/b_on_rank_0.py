"""The learner thought: one of the ranks adds b to its summand."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "bias-on-one-rank"
TELL = (
    "The sum is right if rank 0 alone adds b; but then only rank 0 has a gradient of b. b is alike on all"
    " ranks: add it after g."
)


def own(n, group):
    each, more = divmod(n, dist.get_world_size(group))
    r = dist.get_rank(group)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def parallel_mlp(x, A, a, B, b, group=None):
    mine = own(A.shape[1], group)
    total = F.gelu(copy_to_region(x, group) @ A[:, mine] + a[mine]) @ B[mine]
    if dist.get_rank(group) == 0:
        total = total + b
    return reduce_from_region(total + 0 * b, group)
