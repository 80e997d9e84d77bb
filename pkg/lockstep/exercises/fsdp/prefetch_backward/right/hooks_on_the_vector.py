"""The gradient of the vector leaves from a hook of autograd; the loop waits for it one block later."""

import torch
import torch.distributed as dist
from torch.func import functional_call


def with_parameters(block, flat, h):
    pieces = flat.split([p.numel() for p in block.parameters()])
    named = zip(block.named_parameters(), pieces, strict=True)
    return functional_call(block, {name: piece.view_as(p) for (name, p), piece in named}, (h,))


def prefetch_backward(blocks, shards, inputs, flowing, group=None):
    K, L = dist.get_world_size(group), len(blocks)
    sums, leaving = {}, {}

    def post(i):
        if i < 0:
            return None
        whole = shards[i].new_empty(K * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    def leave(i, flat):
        padded = torch.cat([flat.grad, flat.new_zeros(K * len(shards[i]) - len(flat))])
        flat.grad, sums[i] = None, torch.empty_like(shards[i])
        if i + 1 in leaving:
            leaving.pop(i + 1).wait()
        leaving[i] = dist.reduce_scatter_tensor(sums[i], padded, group=group, async_op=True)

    coming = post(L - 1)
    for i in range(L - 1, -1, -1):
        whole, gathering = coming
        gathering.wait()
        coming = post(i - 1)
        flat = whole[: sum(p.numel() for p in blocks[i].parameters())].requires_grad_()
        flat.register_post_accumulate_grad_hook(lambda flat, i=i: leave(i, flat))
        h = inputs[i].detach().requires_grad_(i > 0)
        with_parameters(blocks[i], flat, h).backward(flowing)
        del whole, gathering, flat
        flowing = h.grad
    leaving.pop(0).wait()
    return [sums[i] / K for i in range(L)]
