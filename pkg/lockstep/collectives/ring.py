"""The ring all-reduce: the tensor is cut into K chunks, and every rank sends and receives in every round.

    K   ranks of the group        r   this rank, 0 ... K-1        n_c   bytes of chunk c
    N   bytes of the tensor       t   round, 0 ... K-2            right, left   ranks r + 1 and r - 1, mod K

K = 3. A rank holds chunks a, b, c; ``a01`` is the sum of chunk a over ranks 0 and 1. Messages go to the right.

                            rank 0            rank 1            rank 2
    (1) cut                 a0  b0  c0        a1  b1  c1        a2  b2  c2
    (2) t = 0: send chunk   c0 ─►             a1 ─►             b2 ─►             chunk r - t - 1
    (3)        add to       a0  b02 c0        a1  b1  c01       a12 b2  c2        chunk r - t - 2
    (2) t = 1: send chunk   b02 ─►            c01 ─►            a12 ─►
    (3)        add to       a012 .  .         .  b012 .         .   .  c012       chunk r is complete at rank r
        ───────────────────────────────────────────────────── so far: reduce-scatter
    (4) t = 0: send chunk   a012 ─►           b012 ─►           c012 ─►           chunk r - t
               store in     a012 .  c012      a012 b012 .       .  b012 c012      chunk r - t - 1
    (4) t = 1: send chunk   c012 ─►           a012 ─►           b012 ─►
               store in     a012 b012 c012    a012 b012 c012    a012 b012 c012
        ───────────────────────────────────────────────────── and this was the all-gather

Cost of the all-reduce: 2(K-1) rounds, 2(K-1)·(alpha + N/K·beta) seconds; 2(K-1) messages and 2N - n_r - n_(r+1) bytes
per rank, which is 2(K-1)/K·N where K divides: less than 2N however many ranks there are, and no algorithm can send
less. Each half costs half. Source: Patarasuk & Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of
Workstations (2009). The naive form is ``unchunked_ring_all_reduce`` in ``naive.py``: (K-1)·N bytes per rank.
"""

from __future__ import annotations

import torch.distributed as dist
from torch import Tensor

from lockstep.collectives.exchange import exchange, flat


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Every rank's ``tensor`` becomes the sum over the ranks, in place. Returns ``tensor``."""
    ring_reduce_scatter(tensor, group)
    return ring_all_gather(tensor, group)


def ring_reduce_scatter(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Chunk r of ``tensor`` becomes the sum over the ranks, in place. Returns this chunk, shape ``(numel_r,)``.

    Chunks are those of ``tensor.flatten().tensor_split(K)``: the first ones are longer by one where K does not divide,
    and empty where there are fewer elements than ranks. The other chunks hold partial sums afterwards.
    """
    r, K = dist.get_rank(group), dist.get_world_size(group)
    right, left = (r + 1) % K, (r - 1) % K
    with flat(tensor) as x:
        chunk = x.tensor_split(K)  # (1)
        room = {n: x.new_empty(n) for n in (len(chunk[0]), len(chunk[-1]))}  # chunks differ by one element at most
        for t in range(K - 1):
            outgoing, sums = chunk[(r - t - 1) % K], chunk[(r - t - 2) % K]
            incoming = room[len(sums)]
            exchange(outgoing, right, incoming, left, group)  # (2)
            sums += incoming  # (3)
    return chunk[r]


def ring_all_gather(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Chunk c of every rank's ``tensor`` becomes chunk c of rank c, for all c, in place. Returns ``tensor``."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    right, left = (r + 1) % K, (r - 1) % K
    with flat(tensor) as x:
        chunk = x.tensor_split(K)
        for t in range(K - 1):
            exchange(chunk[(r - t) % K], right, chunk[(r - t - 1) % K], left, group)  # (4)
    return tensor
