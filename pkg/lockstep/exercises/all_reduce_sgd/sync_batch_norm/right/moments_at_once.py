"""Sums of ones, of x and of squares, in a matrix."""

import torch
import torch.distributed as dist


def sync_batch_norm(x, eps, group=None):
    powers = torch.stack([x, x * x]).sum(dim=1)
    sums = torch.cat([x.new_full((1,), len(x)), powers.flatten()])
    dist.all_reduce(sums, group=group)
    mean, squares = (sums[1:] / sums[0]).view(2, -1)
    return (x - mean) * torch.rsqrt(squares - mean.square() + eps)
