"""Two buffers for parameters, in turn; a generator ends what is leaving."""

import torch
import torch.distributed as dist
from torch.func import functional_call


def with_parameters(block, flat, h):
    pieces = flat.split([p.numel() for p in block.parameters()])
    named = zip(block.named_parameters(), pieces, strict=True)
    return functional_call(block, {name: piece.view_as(p) for (name, p), piece in named}, (h,))


def prefetch_backward(blocks, shards, inputs, flowing, group=None):
    ranks = dist.get_world_size(group)
    buffers = [flowing.new_empty(ranks * max(map(len, shards))) for _ in range(2)]

    def post(i):
        return dist.all_gather_into_tensor(
            buffers[i % 2][: ranks * len(shards[i])], shards[i], group=group, async_op=True
        )

    def last_of(leaving):
        for shard, work in leaving:
            work.wait()
            yield shard / ranks

    found, leaving, gathering = [], [], post(len(blocks) - 1)
    for i in reversed(range(len(blocks))):
        gathering.wait()
        gathering = post(i - 1) if i else None
        flat = buffers[i % 2][: sum(p.numel() for p in blocks[i].parameters())].detach().requires_grad_()
        h = inputs[i].detach().requires_grad_()
        gradient, flowing = torch.autograd.grad(with_parameters(blocks[i], flat, h), (flat, h), flowing)
        found += last_of(leaving)
        whole = shards[i].new_zeros(ranks * len(shards[i]))
        whole[: len(gradient)] = gradient
        del gradient, flat
        leaving = [(torch.empty_like(shards[i]), None)]
        leaving = [(leaving[0][0], dist.reduce_scatter_tensor(leaving[0][0], whole, group=group, async_op=True))]
        del whole
    found += last_of(leaving)
    return found[::-1]
