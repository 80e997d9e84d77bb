"""Megatron's f and g, and an MLP block that is cut along its hidden dimension."""

import torch
import torch.distributed as dist
from torch import nn

from . import topology as topo


class CopyToTensorParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad, group=topo.process_groups.tp_group)
        return grad


class ReduceFromTensorParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x, group=topo.process_groups.tp_group)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class Block(nn.Module):
    def __init__(self, weights):
        super().__init__()
        up, down = weights
        tp = topo.process_groups
        self.up = nn.Parameter(up.chunk(tp.tp_size, dim=0)[tp.tp_rank].clone())
        self.down = nn.Parameter(down.chunk(tp.tp_size, dim=1)[tp.tp_rank].clone())

    def forward(self, x):
        hidden = torch.nn.functional.gelu(CopyToTensorParallel.apply(x) @ self.up.T)
        return x + ReduceFromTensorParallel.apply(hidden @ self.down.T)
