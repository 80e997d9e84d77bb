"""A generator for the gathers; each reduce-scatter is called before the one ahead of it has been waited for."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.func import functional_call


def with_parameters(block, flat, h):
    pieces = flat.split([p.numel() for p in block.parameters()])
    named = zip(block.named_parameters(), pieces, strict=True)
    return functional_call(block, {name: piece.view_as(p) for (name, p), piece in named}, (h,))


def prefetch_backward(blocks, shards, inputs, flowing, group=None):
    ranks = dist.get_world_size(group)
    means, working = [torch.zeros_like(shard) for shard in shards], []

    def vectors():
        coming = None
        for i in [*range(len(blocks) - 1, -1, -1), None]:
            ready, coming = coming, None
            if ready:
                ready[1].wait()
            if i is not None:
                whole = shards[i].new_zeros(ranks * len(shards[i]))
                coming = whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)
                del whole
            if ready:
                whole = ready[0]
                del ready
                yield whole
                del whole

    of_blocks = vectors()
    for i in range(len(blocks) - 1, -1, -1):
        numel = sum(p.numel() for p in blocks[i].parameters())
        flat, h = next(of_blocks)[:numel].requires_grad_(), inputs[i].clone().requires_grad_()
        gradient, flowing = torch.autograd.grad(with_parameters(blocks[i], flat, h), (flat, h), flowing)
        del flat
        padded = F.pad(gradient.div_(ranks), (0, ranks * len(means[i]) - numel))
        del gradient
        working.append(dist.reduce_scatter_tensor(means[i], padded, group=group, async_op=True))
        del padded
        if len(working) > 1:
            working.pop(0).wait()
    working.pop().wait()
    return means
