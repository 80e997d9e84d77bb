"""The learner thought: two gathers under way hide better than one."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.func import functional_call

MISCONCEPTION = "starts-too-early"


def with_parameters(block, flat, h):
    pieces = flat.split([p.numel() for p in block.parameters()])
    named = zip(block.named_parameters(), pieces, strict=True)
    return functional_call(block, {name: piece.view_as(p) for (name, p), piece in named}, (h,))


def prefetch_backward(blocks, shards, inputs, flowing, group=None):
    ranks = dist.get_world_size(group)

    def gather(i):
        whole = shards[i].new_empty(ranks * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    def reduce(i, gradient):
        shard = torch.empty_like(shards[i])
        padded = F.pad(gradient, (0, ranks * len(shard) - len(gradient)))
        return shard, dist.reduce_scatter_tensor(shard, padded, group=group, async_op=True)

    def arrived(leaving):
        shard, work = leaving
        work.wait()
        return shard / ranks

    last = len(blocks) - 1
    coming, leaving, found = [gather(i) for i in range(last, max(-1, last - 2), -1)], None, []
    for i in reversed(range(len(blocks))):
        whole, work = coming.pop(0)
        work.wait()
        if i > 1:
            coming.append(gather(i - 2))
        N = sum(p.numel() for p in blocks[i].parameters())
        flat, h = whole[:N].requires_grad_(), inputs[i].detach().requires_grad_()
        gradient, flowing = torch.autograd.grad(with_parameters(blocks[i], flat, h), (flat, h), flowing)
        del whole, work, flat
        if leaving:
            found.append(arrived(leaving))
        leaving = reduce(i, gradient)
        del gradient
    found.append(arrived(leaving))
    return found[::-1]
