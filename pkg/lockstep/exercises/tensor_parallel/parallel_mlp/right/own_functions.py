"""With f and g of its own, and parts by torch.tensor_split."""

import torch
import torch.distributed as dist
from torch.nn import functional as F


def regions(group):
    class Copy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            dy = dy.clone()
            dist.all_reduce(dy, group=group)
            return dy

    class Reduce(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x = x.clone()
            dist.all_reduce(x, group=group)
            return x

        @staticmethod
        def backward(ctx, dy):
            return dy

    return Copy.apply, Reduce.apply


def parallel_mlp(x, A, a, B, b, group=None):
    F_, G = regions(group)
    r, K = dist.get_rank(group), dist.get_world_size(group)
    up, bias, down = A.tensor_split(K, dim=1)[r], a.tensor_split(K)[r], B.tensor_split(K)[r]
    inside = F.gelu(torch.addmm(bias, F_(x), up))
    return G(inside @ down) + b
