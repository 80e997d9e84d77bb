"""The learner thought: a slice of a vector is as large as it looks."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import gathered, reduced_shard

MISCONCEPTION = "level-4"


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    shards = []
    for layer in layers:
        n = -(-layer.numel // K)
        whole = torch.nn.functional.pad(layer.start(), (0, K * n - layer.numel))
        shards.append(whole[r * n : (r + 1) * n])
    del whole
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
            shard.grad = reduced_shard(gradient, group)
        adam.step()
        adam.zero_grad()
    return shards
