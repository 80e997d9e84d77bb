"""The learner thought: async_op=True, and my own rows meanwhile."""

import torch
import torch.distributed as dist

MISCONCEPTION = "library-call"


def async_gather_matmul(x, A, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    n = len(x)
    whole = x.new_empty(K * n, x.shape[1])
    work = dist.all_gather_into_tensor(whole, x.contiguous(), group=group, async_op=True)
    own = x @ A
    work.wait()
    return torch.cat([whole[: r * n] @ A, own, whole[(r + 1) * n :] @ A])
