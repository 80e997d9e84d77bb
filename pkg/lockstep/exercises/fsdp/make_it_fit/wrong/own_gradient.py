"""The learner thought: each rank's shard of its own gradient is what it steps by."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import gathered, shard_of

MISCONCEPTION = "own-gradient"
TELL = "Each rank steps by its own gradient: the other ranks' rows are not in it. Reduce-scatter the gradient, or all-reduce it."
VARIANTS = ["own_gradient_over_k", "no_all_reduce"]


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    shards = [shard_of(layer.start(), r, K) for layer in layers]
    adam = optimizer(shards)
    for x, y in batches:
        inputs = []
        with torch.no_grad():
            for layer, shard in zip(layers, shards):
                inputs.append(x)
                x = layer(gathered(shard, layer.numel, group), x)
        x.requires_grad_()
        (delta,) = torch.autograd.grad(mse_loss(x, y), x)
        for layer, shard in zip(layers[::-1], shards[::-1]):
            flat, h = gathered(shard, layer.numel, group).requires_grad_(), inputs.pop().detach().requires_grad_()
            gradient, delta = torch.autograd.grad(layer(flat, h), (flat, h), delta)
            padded = torch.nn.functional.pad(gradient, (0, K * len(shard) - len(gradient)))
            shard.grad = padded[r * len(shard) : (r + 1) * len(shard)].clone()
        adam.step()
        adam.zero_grad()
    return shards
