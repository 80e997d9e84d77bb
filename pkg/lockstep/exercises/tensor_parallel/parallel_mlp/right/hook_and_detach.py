"""f is a hook on a copy of x, and g a sum of which autograd sees only the own summand."""

import torch
import torch.distributed as dist
from torch.nn import functional as F


def summed(x, group):
    x = x.clone()
    dist.all_reduce(x, group=group)
    return x


def parallel_mlp(x, A, a, B, b, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    mine = torch.arange(A.shape[1]).tensor_split(K)[r]
    x = x.view_as(x)
    if x.requires_grad:
        x.register_hook(lambda dx: summed(dx, group))
    own = F.linear(F.gelu(F.linear(x, A[:, mine].T, a[mine])), B[mine].T)
    return own + (summed(own.detach(), group) - own).detach() + b
