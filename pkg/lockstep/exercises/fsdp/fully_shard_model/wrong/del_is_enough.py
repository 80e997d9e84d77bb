"""The learner thought: del takes a vector away."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

MISCONCEPTION = "too-many-held"


def gather(shard, N, group):
    flat = torch.empty(dist.get_world_size(group) * len(shard))
    dist.all_gather_into_tensor(flat, shard, group=group)
    return flat[:N]


def fully_shard_model(layers, shards, x, y, group=None):
    K = dist.get_world_size(group)
    inputs, outputs, gradients = [], [], []
    for layer, shard in zip(layers, shards):
        flat = gather(shard, layer.numel, group).requires_grad_()
        x = x.detach().requires_grad_()
        inputs.append(x)
        x = layer(flat, x)
        outputs.append(x)
        del flat
    last = outputs[-1].detach().requires_grad_()
    (delta,) = torch.autograd.grad(mse_loss(last, y), last)
    for layer, shard, h in zip(layers[::-1], shards[::-1], inputs[::-1]):
        flat = gather(shard, layer.numel, group).requires_grad_()
        gradient, delta = torch.autograd.grad(layer(flat, h), (flat, h), delta)
        padded = torch.nn.functional.pad(gradient, (0, K * len(shard) - len(gradient)))
        mean = torch.empty_like(shard)
        dist.reduce_scatter_tensor(mean, padded, group=group)
        gradients.append(mean / K)
    return gradients[::-1]
