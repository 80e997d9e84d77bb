"""Megatron's f and g: the communication where a tensor-parallel region begins and ends, forward and backward.

    K, r    ranks of the group, this one's number
    n       the length of the dimension that is cut; a rank's part of it is ``share(n, K, r)``

                                     forward             backward           so that
    copy_to_region             f     nothing             1 all-reduce       each rank uses x in its own way
    reduce_from_region         g     2 all-reduce        nothing            partial sums become the sum
    scatter_to_region                own part            3 all-gather       each rank goes on with a part of x
    gather_from_region               4 all-gather        own part           parts become x again
    gather_from_sequence             5 all-gather        6 reduce-scatter   as f, where each rank has a part of x
    reduce_scatter_to_sequence       7 reduce-scatter    8 all-gather       as g, where each rank keeps part of the sum

    x ──┬─ f ──> rank 0's part of a layer ──┐             f and g are conjugate: what one does forward the other
        └─ f ──> rank 1's part of a layer ──┴─ g ──> y    does backward. Between them there is no communication.

f and g: Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3. The last two, which it calls g and ḡ: Korthikanti et
al., "Reducing Activation Recomputation in Large Transformer Models", arXiv:2205.05198, section 4.2.2. Megatron Core's
names for them: ``copy_to_tensor_model_parallel_region``, ``reduce_from_…``, ``scatter_to_…``, ``gather_from_…``,
``gather_from_sequence_parallel_region``, ``reduce_scatter_to_sequence_parallel_region``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.errors import UsageError

Group = dist.ProcessGroup | None


def share(n: int, K: int, r: int) -> slice:
    """Rank r's part of n: the first n % K ranks have one more, as in ``torch.tensor_split``."""
    each, more = divmod(n, K)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def own(n: int, group: Group) -> slice:
    """This rank's ``share`` of n."""
    return share(n, dist.get_world_size(group), dist.get_rank(group))


# ---- the six regions


def copy_to_region(x: Tensor, group: Group = None) -> Tensor:
    """f: x itself; its gradient is the sum over all ranks."""
    return _applied(Copy, x, group)


def reduce_from_region(x: Tensor, group: Group = None) -> Tensor:
    """g: the sum of all ranks' x; the gradient of each summand is that of the sum."""
    return _applied(Reduce, x, group)


def scatter_to_region(x: Tensor, dim: int = -1, group: Group = None) -> Tensor:
    """This rank's part of x (..., n, ...) along ``dim``."""
    return _applied(Scatter, x, dim, group)


def gather_from_region(x: Tensor, n: int, dim: int = -1, group: Group = None) -> Tensor:
    """All parts, (..., n, ...), on every rank, for a computation that is the same on all of them."""
    return _applied(Gather, x, n, dim, group)


def gather_from_sequence(x: Tensor, dim: int = 1, group: Group = None) -> Tensor:
    """All ranks' positions, (batch, T/K, width) to (batch, T, width), for a computation that differs between ranks."""
    return _applied(GatherSequence, x, dim, group)


def reduce_scatter_to_sequence(x: Tensor, dim: int = 1, group: Group = None) -> Tensor:
    """This rank's positions of the sum of all ranks' x: (batch, T, width) to (batch, T/K, width). K divides T."""
    return _applied(ReduceScatterSequence, x, dim, group)


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        return summed(dy[0], ctx.group), None  # 1


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        return summed(x, group)  # 2

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        return dy[0], None


class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, group: Group) -> Tensor:
        ctx.n, ctx.dim, ctx.group = x.shape[dim], dim, group
        return part(x, dim, group)

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        return gathered(dy[0], ctx.n, ctx.dim, ctx.group), None, None  # 3


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, n: int, dim: int, group: Group) -> Tensor:
        ctx.dim, ctx.group = dim, group
        return gathered(x, n, dim, group)  # 4

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        return part(dy[0], ctx.dim, ctx.group), None, None, None


class GatherSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, group: Group) -> Tensor:
        ctx.dim, ctx.group = dim, group
        return gathered(x, dist.get_world_size(group) * x.shape[dim], dim, group)  # 5

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        return reduce_scattered(dy[0], ctx.dim, ctx.group), None, None  # 6


class ReduceScatterSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, group: Group) -> Tensor:
        ctx.dim, ctx.group = dim, group
        return reduce_scattered(x, dim, group)  # 7

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        n = dist.get_world_size(ctx.group) * dy[0].shape[ctx.dim]
        return gathered(dy[0], n, ctx.dim, ctx.group), None, None  # 8


def regions(group: Group = None) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """f and g among the ranks of ``group``: a lab's answer."""
    return (lambda x: copy_to_region(x, group)), (lambda x: reduce_from_region(x, group))


# ---- the collectives that they use, without autograd


def part(x: Tensor, dim: int, group: Group) -> Tensor:
    """This rank's part of x along ``dim``: a copy, as a view would keep all of x alive."""
    mine = own(x.shape[dim], group)
    return x.narrow(dim, mine.start, mine.stop - mine.start).clone()


def summed(x: Tensor, group: Group) -> Tensor:
    """The sum of all ranks' x. A copy is reduced: autograd may pass the same gradient to others, too."""
    total = x.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, group=group)
    return total


def gathered(x: Tensor, n: int, dim: int, group: Group) -> Tensor:
    """All parts concatenated along ``dim`` to length n. Parts that are one shorter are sent with a row of padding."""
    K = dist.get_world_size(group)
    longest = -(-n // K)
    mine = x.movedim(dim, 0)
    if len(mine) < longest:
        mine = torch.cat([mine, mine.new_zeros(longest - len(mine), *mine.shape[1:])])
    rows = mine.new_empty(K * longest, *mine.shape[1:])
    dist.all_gather_into_tensor(rows, mine.contiguous(), group=group)
    if n < K * longest:
        sizes = [s.stop - s.start for s in (share(n, K, r) for r in range(K))]
        rows = torch.cat([piece[:size] for piece, size in zip(torch.split(rows, longest), sizes, strict=True)])
    return rows.movedim(0, dim).contiguous()


def reduce_scattered(x: Tensor, dim: int, group: Group) -> Tensor:
    """This rank's part of the sum of all ranks' x along ``dim``."""
    K, n = dist.get_world_size(group), x.shape[dim]
    if n % K:
        raise UsageError(f"{n} positions cannot be shared out evenly among {K} ranks.", f"Take a multiple of {K}.")
    rows = x.movedim(dim, 0).contiguous()
    mine = rows.new_empty(n // K, *rows.shape[1:])
    dist.reduce_scatter_tensor(mine, rows, group=group)
    return mine.movedim(0, dim).contiguous()


def _applied(region: type[torch.autograd.Function], *arguments: Any) -> Tensor:
    out: Tensor = region.apply(*arguments)  # type: ignore[no-untyped-call]
    return out
