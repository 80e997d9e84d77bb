"""Broadcast and reduce along a binomial tree: ranks that have the data help to spread it.

    K   ranks of the group                 r   this rank, 0 ... K-1
    N   bytes of the tensor                v   this rank, counted from the root: v = (r - root) mod K
    d   distance of a round: 1, 2, 4 ... < K

A broadcast from v = 0 with K = 6. Each round doubles the number of ranks that have the tensor:

    d = 1   0 ─► 1                          (1) the ranks below d have it and send to v + d, if there is such a rank
    d = 2   0 ─► 2   1 ─► 3                 (2) the ranks from d to 2d - 1 receive it from v - d
    d = 4   0 ─► 4   1 ─► 5

A reduce is the same tree read backwards, with the arrows turned round:

    d = 4   0 ◄─ 4   1 ◄─ 5                 (3) the ranks from d to 2d - 1 send their sum to v - d, and are done
    d = 2   0 ◄─ 2   1 ◄─ 3                 (4) the ranks below d add what comes from v + d
    d = 1   0 ◄─ 1

A send may block until it is received. There is no deadlock, because a tree has no cycle.

Cost: ceil(log2 K) rounds, ceil(log2 K)·(alpha + N·beta) seconds; K-1 messages and (K-1)·N bytes in all. A rank other
than the root receives N bytes once (sends once, in a reduce); the root sends (receives) ceil(log2 K)·N bytes.
Source: Thakur, Rabenseifner & Gropp, Optimization of Collective Communication Operations in MPICH (2005). They keep
the tree for short tensors; a long one is cheaper to scatter and all-gather (van de Geijn), as in ``ring.py``.
The naive forms are ``star_broadcast`` and ``star_reduce`` in ``naive.py``: K-1 rounds.

``binary_tree_all_reduce`` uses a binary tree, numbered as in a heap: rank r has the children 2r + 1 and 2r + 2. It
needs up to twice as many rounds, but no rank has more than three neighbours, so that no port carries more than 3·N
bytes.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.collectives.exchange import flat, group_rank


def tree_broadcast(tensor: Tensor, src: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """Every rank's ``tensor`` becomes that of ``src`` (a global rank), in place. Returns ``tensor``."""
    root, v, K = _seats(src, group)
    with flat(tensor) as x:
        for d in _distances(K):
            if v < d and v + d < K:
                dist.send(x, group=group, group_dst=(root + v + d) % K)  # (1)
            elif d <= v < 2 * d:
                dist.recv(x, group=group, group_src=(root + v - d) % K)  # (2)
    return tensor


def tree_reduce(tensor: Tensor, dst: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """``tensor`` of ``dst`` (a global rank) becomes the sum over the ranks, in place. Returns ``tensor``.

    The other ranks' tensors hold partial sums afterwards, as they may with ``dist.reduce``.
    """
    root, v, K = _seats(dst, group)
    with flat(tensor) as x:
        incoming = torch.empty_like(x)
        for d in reversed(_distances(K)):
            if d <= v < 2 * d:
                dist.send(x, group=group, group_dst=(root + v - d) % K)  # (3)
            elif v < d and v + d < K:
                dist.recv(incoming, group=group, group_src=(root + v + d) % K)
                x += incoming  # (4)
    return tensor


def binary_tree_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Every rank's ``tensor`` becomes the sum over the ranks, in place: up the tree, then down. Returns ``tensor``.

    2(K-1) messages of N bytes, in at most 4·ceil(log2 K) rounds.
    """
    r, K = dist.get_rank(group), dist.get_world_size(group)
    parent, children = (r - 1) // 2, [child for child in (2 * r + 1, 2 * r + 2) if child < K]
    with flat(tensor) as x:
        incoming = torch.empty_like(x)
        for child in children:
            dist.recv(incoming, group=group, group_src=child)
            x += incoming
        if r > 0:
            dist.send(x, group=group, group_dst=parent)
            dist.recv(x, group=group, group_src=parent)
        for child in children:
            dist.send(x, group=group, group_dst=child)
    return tensor


def _seats(root: int, group: dist.ProcessGroup | None) -> tuple[int, int, int]:
    """``(root, v, K)``: the root as a rank of the group, this rank counted from it, and the size of the group."""
    K, root = dist.get_world_size(group), group_rank(root, group)
    return root, (dist.get_rank(group) - root) % K, K


def _distances(K: int) -> list[int]:
    """1, 2, 4 ... < K: ceil(log2 K) of them."""
    return [2**i for i in range((K - 1).bit_length())]
