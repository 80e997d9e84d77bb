"""A backward pass of ZeRO-3 in which all that travels hides behind computing: parameters come, gradients leave.

    computes                │ block 3 │ block 2 │ block 1 │ block 0 │
    gathers     ├─── 3 ────┤├── 2 ──┤ ├── 1 ──┤ ├── 0 ──┤
    reduces                           ├── 3 ──┤ ├── 2 ──┤ ├── 1 ──┤ ├── 0 ──┤

    before block i computes     1 its gather has ended, and 2 that of block i - 1 is posted
    when it has computed        3 its parameters are let go of, 4 the reduce-scatter of block i + 1 has ended, and
                                5 its own is posted

So while a block computes, one gather and one reduce-scatter are under way, and two blocks are whole. Blocks are modules
of torch, on the "meta" device: they have shapes and no numbers. Their inputs were kept by the forward pass, and each
block is computed once more from its own.

``fsdp.FullySharded`` does the same by hooks, for any module. ``fully_shard`` of torch, too, posts the gather of the
unit before when a unit's backward pass begins, and the unit's reduce-scatter when that has ended (``pre_backward`` and
``post_backward`` in torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py).

Source: Zhao et al., PyTorch FSDP (arXiv:2304.11277), section 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.func import functional_call

from lockstep.sharded.flat import padded
from lockstep.sharded.zero3 import posted

Group = dist.ProcessGroup | None


def with_parameters(block: nn.Module, flat: Tensor, h: Tensor) -> Tensor:
    """The block's output for the input ``h``, with the numbers of ``flat`` (N,) as its parameters."""
    pieces = torch.split(flat, [p.numel() for p in block.parameters()])
    named = zip(block.named_parameters(), pieces, strict=True)
    output: Tensor = functional_call(block, {name: piece.view_as(p) for (name, p), piece in named}, (h,))
    return output


class Leaving(NamedTuple):
    """A block's shard (n,) of the sum of its gradients, and the reduce-scatter that fills it."""

    shard: Tensor
    work: dist.Work

    def wait(self, K: int) -> Tensor:
        """The shard of the mean over K ranks, once it has arrived."""
        self.work.wait()
        return self.shard / K


def posted_reduction(gradient: Tensor, group: Group = None) -> Leaving:
    """Start to reduce the ranks' gradients (N,) to shards, without waiting."""
    whole = padded(gradient, K := dist.get_world_size(group))  # (K·n,)
    shard = whole.new_empty(len(whole) // K)
    work = dist.reduce_scatter_tensor(shard, whole, group=group, async_op=True)
    assert work is not None
    return Leaving(shard, work)


def prefetch_backward(
    blocks: Sequence[nn.Module], shards: Sequence[Tensor], inputs: Sequence[Tensor], flowing: Tensor,
    group: Group = None,
) -> list[Tensor]:  # fmt: skip
    """This rank's shard (n,) of each block's mean gradient. ``inputs[i]`` went into block i; ``flowing`` is the
    gradient of the loss with respect to the last block's output."""
    K, last = dist.get_world_size(group), len(blocks) - 1
    found, leaving, arriving = list[Tensor](), None, posted(shards[last], group)
    for i in reversed(range(len(blocks))):
        flat = arriving.wait(sum(p.numel() for p in blocks[i].parameters())).requires_grad_()  # 1
        if i:
            arriving = posted(shards[i - 1], group)  # 2
        h = inputs[i].detach().requires_grad_()
        gradient, flowing = torch.autograd.grad(with_parameters(blocks[i], flat, h), (flat, h), flowing)
        del flat  # 3
        if leaving:
            found.append(leaving.wait(K))  # 4
        leaving = posted_reduction(gradient, group)  # 5
        del gradient
    assert leaving is not None
    return [leaving.wait(K), *reversed(found)]


def one_after_the_other(
    blocks: Sequence[nn.Module], shards: Sequence[Tensor], inputs: Sequence[Tensor], flowing: Tensor,
    group: Group = None,
) -> list[Tensor]:  # fmt: skip
    """The same gradients, where nothing is hidden: each transfer is waited for at once."""
    K, found = dist.get_world_size(group), list[Tensor]()
    for block, shard, h in zip(reversed(blocks), reversed(shards), reversed(inputs), strict=True):
        flat = posted(shard, group).wait(sum(p.numel() for p in block.parameters())).requires_grad_()
        h = h.detach().requires_grad_()
        gradient, flowing = torch.autograd.grad(with_parameters(block, flat, h), (flat, h), flowing)
        del flat
        found.append(posted_reduction(gradient, group).wait(K))
    return found[::-1]
