"""An autograd.Function of its own."""

import torch
import torch.distributed as dist


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        total = x.clone()
        dist.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx, dy):
        return dy, None


def mend_bias_added_k_times(x, B, b, group=None):
    B = torch.tensor_split(B, dist.get_world_size(group))[dist.get_rank(group)]
    return b + Sum.apply(x @ B, group)
