"""Naive collectives: correct, and slow. The table has what each costs.

    K   ranks of the group        r   this rank, 0 ... K-1
    N   bytes of the tensor       x   its elements in one row

One port a rank: it sends one message at a time and receives one at a time. A message takes alpha + N·beta seconds.

    function                   rounds    messages, all   bytes, all   bytes at the busiest rank
    star_broadcast             K-1       K-1             (K-1)·N      (K-1)·N    sent by the root
    star_reduce                K-1       K-1             (K-1)·N      (K-1)·N    received by the root
    star_all_reduce            2(K-1)    2(K-1)          2(K-1)·N     (K-1)·N    each way, rank 0
    peers_all_reduce           K-1       K(K-1)          K(K-1)·N     (K-1)·N    each way, every rank
    unchunked_ring_all_reduce  K-1       K(K-1)          K(K-1)·N     (K-1)·N    each way, every rank
    one_reduce_after_another   ≤ K(K-1)  K(K-1)          K(K-1)·N     (K-1)·N    each way, every rank

With floats there is one more cost. In the last three functions each rank sums in its own order, so that ranks may
differ in the last bit: replicas of a model drift apart. The star, the chunked ring and halving-doubling give every rank
the same bits.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.collectives.exchange import exchange, flat, group_rank


def star_broadcast(tensor: Tensor, src: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """Every rank gets the tensor of ``src`` (a global rank), in place: the root alone sends, K-1 times."""
    r, K, root = dist.get_rank(group), dist.get_world_size(group), group_rank(src, group)
    with flat(tensor) as x:
        if r != root:
            dist.recv(x, group=group, group_src=root)
        else:
            for other in set(range(K)) - {root}:
                dist.send(x, group=group, group_dst=other)
    return tensor


def star_reduce(tensor: Tensor, dst: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """``dst`` (a global rank) gets the sum, in place: it receives K-1 times. The other tensors stay as they are."""
    r, K, root = dist.get_rank(group), dist.get_world_size(group), group_rank(dst, group)
    with flat(tensor) as x:
        if r != root:
            dist.send(x, group=group, group_dst=root)
        else:
            incoming = torch.empty_like(x)
            for other in set(range(K)) - {root}:
                dist.recv(incoming, group=group, group_src=other)
                x += incoming
    return tensor


def star_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The master and its workers: gather to one, broadcast from one. Every rank gets the sum, in place."""
    master = dist.get_process_group_ranks(group)[0]
    star_reduce(tensor, master, group)
    return star_broadcast(tensor, master, group)


def peers_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Every rank sends its whole tensor to every other. In round i a rank sends to the i-th rank to its right."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    with flat(tensor) as x:
        own, incoming = x.clone(), torch.empty_like(x)
        for i in range(1, K):
            exchange(own, (r + i) % K, incoming, (r - i) % K, group)
            x += incoming
    return tensor


def one_reduce_after_another(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """An all-reduce as K reduce operations in turn, one to each rank. Every rank gets the sum, in place."""
    own, members = tensor.clone(), dist.get_process_group_ranks(group)
    for root in members:
        total = star_reduce(own.clone(), root, group)
        if root == dist.get_rank():
            tensor.copy_(total)
    return tensor


def unchunked_ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Whole tensors are passed round the ring, one rank a round. A ring alone saves nothing: see ``ring.py``."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    right, left = (r + 1) % K, (r - 1) % K
    with flat(tensor) as x:
        passing, incoming = x.clone(), torch.empty_like(x)
        for _ in range(K - 1):
            exchange(passing, right, incoming, left, group)
            passing, incoming = incoming, passing
            x += passing
    return tensor
