"""The learner thought: reduce_scatter_tensor divides the gradient as it comes."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

MISCONCEPTION = "crashed:RankRaised"
TELL = "A reduce-scatter needs as many numbers as there are ranks times those of a shard: pad the gradient with zeros to K·n."
RAISES = "^ValueError: reduce_scatter among"


def gather(shard, N, group):
    flat = torch.empty(dist.get_world_size(group) * len(shard))
    dist.all_gather_into_tensor(flat, shard, group=group)
    return flat[:N]


def fully_shard_model(layers, shards, x, y, group=None):
    K = dist.get_world_size(group)
    inputs, gradients = [], []
    with torch.no_grad():
        for layer, shard in zip(layers, shards):
            inputs.append(x)
            x = layer(gather(shard, layer.numel, group), x)
    x.requires_grad_()
    (delta,) = torch.autograd.grad(mse_loss(x, y), x)
    for layer, shard, h in zip(layers[::-1], shards[::-1], inputs[::-1]):
        flat = gather(shard, layer.numel, group).requires_grad_()
        h = h.detach().requires_grad_()
        gradient, delta = torch.autograd.grad(layer(flat, h), (flat, h), delta)
        padded = torch.nn.functional.pad(gradient, (0, K * len(shard) - len(gradient)))
        mean = torch.empty_like(shard)
        dist.reduce_scatter_tensor(mean, gradient, group=group)
        gradients.append(mean / K)
    return gradients[::-1]
