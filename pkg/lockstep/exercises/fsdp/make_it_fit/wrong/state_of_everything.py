"""The learner thought: a rank that has its own gradient alone steps its own shard."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import gathered, reduced_shard, shard_of

MISCONCEPTION = "level-2"


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    flats = [layer.start().requires_grad_() for layer in layers]
    adam = optimizer(flats)
    for x, y in batches:
        for layer, flat in zip(layers, flats):
            x = layer(flat, x)
        mse_loss(x, y).backward()
        for flat in flats:
            n = -(-len(flat) // K)
            own = reduced_shard(flat.grad, group)[: max(0, len(flat) - r * n)]
            flat.grad.zero_()[r * n : r * n + len(own)] = own
        adam.step()
        adam.zero_grad()
        for flat in flats:
            flat.data.copy_(gathered(shard_of(flat.detach(), r, K), len(flat), group))
    return [shard_of(flat.detach(), r, K) for flat in flats]
