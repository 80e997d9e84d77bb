"""Ring attention: queries stay, keys and values go round, and each rank attends to those that are there while the next
ones travel.

    T positions on K ranks: rank r has some, by a ``Layout``, and for them q, k and v

    rank 1 of 3   link       ├─ k, v of 0 ──┤├─ k, v of 2 ──┤
                  compute    ├ q with its own ┤ ├ q with 0's ┤ ├ q with 2's ┤       results merge: ``online_softmax``

    forward     K - 1 rounds; in each a rank passes on one rank's k and v: 2(K - 1)·G·(T/K)·d numbers a sequence
    backward    k and v go round once more. Their gradients follow one step behind, and each rank adds its own part;
                one step more brings them home: 2(2K - 1)·G·(T/K)·d numbers

A rank never holds more than two ranks' keys and values. Causal: a pair of chunks of which the keys are later than all
queries is left out, so with one stretch each rank 0 has next to nothing to do; zig-zag evens it out.

Source: Liu et al., "Ring Attention with Blockwise Transformers for Near-Infinite Context", arXiv:2310.01889.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.context_parallel.layout import Layout
from lockstep.context_parallel.online_softmax import attend, attend_backward, merge
from lockstep.errors import UsageError

Group = dist.ProcessGroup | None
Block = tuple[slice, slice, bool]  # rows of queries, rows of keys, and whether they are of the same positions


def ring_attention(q: Tensor, k: Tensor, v: Tensor, layout: Layout, group: Group = None, causal: bool = True) -> Tensor:
    """This rank's rows of attention over all T positions, (b, H, t, d), as q. Differentiable.

    q is (b, H, t, d), k and v (b, G, t, d), for the t = ``layout.length(r)`` positions of rank r, in their order; G
    divides H. All ranks of ``group`` call it, and call its backward. Raises UsageError for other shapes."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    if layout.K != K:
        raise UsageError(f"The layout is for {layout.K} ranks, the group has {K}.", "Give Layout the group's size.")
    if q.shape[-2] != layout.length(r) or k.shape[-2] != layout.length(r) or q.shape[1] % k.shape[1]:
        raise UsageError(
            f"Rank {r} has {layout.length(r)} positions; q is {tuple(q.shape)}, k {tuple(k.shape)}.",
            "Both are (batch, heads, positions of this rank, width), and k's heads divide q's.",
        )
    by_key = q.reshape(len(q), k.shape[1], q.shape[1] // k.shape[1], *q.shape[2:])
    out: Tensor = RingAttention.apply(by_key, torch.stack([k, v]), layout, group, causal)  # type: ignore[no-untyped-call]
    return out.flatten(1, 2)


class RingAttention(torch.autograd.Function):
    """q (b, G, n, t, d) and kv (2, b, G, t, d) to O, as q."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, kv: Tensor, layout: Layout, group: Group, causal: bool) -> Tensor:
        r = dist.get_rank(group)
        out, L = torch.zeros_like(q), q.new_full((*q.shape[:-1], 1), -torch.inf)
        for owner, (k, v) in passing(kv, layout, group):
            for rows, keys, diagonal in blocks(layout.chunks(r), layout.chunks(owner), causal):
                more = attend(q[..., rows, :], k[..., keys, :], v[..., keys, :], diagonal)
                out[..., rows, :], L[..., rows, :] = merge(out[..., rows, :], L[..., rows, :], *more)
        ctx.save_for_backward(q, kv, out, L)
        ctx.rest = layout, group, causal
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (q, kv, out, L), (layout, group, causal) = ctx.saved_tensors, ctx.rest
        r, K, (dO,) = dist.get_rank(group), dist.get_world_size(group), gradients
        D, dq = (dO * out).sum(-1, keepdim=True), torch.zeros_like(q)
        summed, under_way = torch.zeros_like(kv), list[dist.Work]()
        for owner, (k, v) in passing(kv, layout, group):
            own = torch.zeros_like(torch.stack([k, v]))
            for rows, keys, diagonal in blocks(layout.chunks(r), layout.chunks(owner), causal):
                at = q[..., rows, :], k[..., keys, :], v[..., keys, :], diagonal
                more = attend_backward(*at, L[..., rows, :], D[..., rows, :], dO[..., rows, :])
                dq[..., rows, :] += more[0]
                own[..., keys, :] += torch.stack(more[1:])
            for work in under_way:
                work.wait()
            own += summed  # of the ranks that had this owner's keys before
            summed = room_for((owner - 1) % K, kv, layout)
            under_way = swap(own, summed, group)
        for work in under_way:
            work.wait()
        return dq, summed, None, None, None


def blocks(mine: Sequence[range], theirs: Sequence[range], causal: bool) -> Iterator[Block]:
    """What is to compute of these chunks of queries and keys: rows of this rank's queries and of the owner's keys."""
    row = 0
    for queries in mine:
        column = 0
        for keys in theirs:
            here, there = slice(row, row + len(queries)), slice(column, column + len(keys))
            if len(queries) and len(keys) and (not causal or keys.start <= queries.start):
                yield here, there, causal and keys == queries
            column += len(keys)
        row += len(queries)


def passing(kv: Tensor, layout: Layout, group: Group) -> Iterator[tuple[int, Tensor]]:
    """Each rank's kv and whose it is: this rank's own first, then its left neighbour's, and so on. While the caller
    computes with one, the next one comes."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    for step in range(K):
        coming, under_way = kv, list[dist.Work]()
        if step < K - 1:
            coming = room_for((r - step - 1) % K, kv, layout)
            under_way = swap(kv, coming, group)
        yield (r - step) % K, kv
        for work in under_way:
            work.wait()
        kv = coming


def room_for(owner: int, like: Tensor, layout: Layout) -> Tensor:
    return like.new_empty(*like.shape[:-2], layout.length(owner), like.shape[-1])


def swap(going: Tensor, coming: Tensor, group: Group) -> list[dist.Work]:
    """Post the messages of a step: to the right neighbour, from the left one. A rank alone is its own neighbour."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    if K == 1:
        coming.copy_(going)
        return []
    to_right = dist.P2POp(dist.isend, going, group=group, group_peer=(r + 1) % K)
    from_left = dist.P2POp(dist.irecv, coming, group=group, group_peer=(r - 1) % K)
    return list(dist.batch_isend_irecv([to_right, from_left]))
