"""All-reduce in log2 K rounds each way, for K a power of two: halve what you work on, then double it again.

    K   ranks of the group: 1, 2, 4, 8 ...        r   this rank, 0 ... K-1
    N   bytes of the tensor                       d   distance to the partner, r XOR d

K = 4, chunks a, b, c, d; ``a02`` is the sum of chunk a over ranks 0 and 2. Partners hold the same span of the tensor.

                       rank 0           rank 1           rank 2           rank 3
                       a0 b0 c0 d0      a1 b1 c1 d1      a2 b2 c2 d2      a3 b3 c3 d3
    (1) d = 2: give       c0 d0 ─► 2       c1 d1 ─► 3    a2 b2 ─► 0       a3 b3 ─► 1      half of N
    (2)        add     a02 b02          a13 b13          c02 d02          c13 d13
    (1) d = 1: give        b02 ─► 1     a13 ─► 0             d02 ─► 3     c13 ─► 2        a quarter of N
    (2)        add     a0123            b0123            c0123            d0123
    (3) d = 1: give    a0123 ─► 1       b0123 ─► 0       c0123 ─► 3       d0123 ─► 2      a quarter of N
    (3) d = 2: give    a, b ─► 2        a, b ─► 3        c, d ─► 0        c, d ─► 1       half of N

Going in (1, 2) is a reduce-scatter by recursive halving, coming out (3) an all-gather by recursive doubling; the
recursion of the program is the recursion of the algorithm.

Cost: 2·log2 K rounds, 2·log2 K·alpha + 2(K-1)/K·N·beta seconds; 2·log2 K messages and 2(K-1)/K·N bytes per rank: the
bytes of the ring in far fewer rounds (where a span is odd, one half has an element more). Its partners are up to K/2
apart, so it needs a network that is good everywhere; a ring only needs neighbours.
Source: Thakur, Rabenseifner & Gropp, Optimization of Collective Communication Operations in MPICH (2005), which calls
it Rabenseifner's algorithm and says how to treat other K: fold the surplus ranks into their neighbours first.
``recursive_doubling_all_reduce`` is the simpler relative: exchange everything at distances 1, 2, 4 ...
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.collectives.exchange import exchange, flat
from lockstep.errors import UsageError


def halving_doubling_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Every rank's ``tensor`` becomes the sum over the ranks, in place. Returns ``tensor``.

    UsageError if the number of ranks is not a power of two.
    """
    K = _power_of_two(group)
    with flat(tensor) as x:
        _all_reduce(x, K // 2, group)
    return tensor


def _all_reduce(span: Tensor, d: int, group: dist.ProcessGroup | None) -> None:
    """All-reduce ``span`` among the 2d ranks that hold it."""
    if d == 0:
        return
    r = dist.get_rank(group)
    low, high = span.tensor_split(2)
    keep, give = (high, low) if r & d else (low, high)
    incoming = torch.empty_like(keep)
    exchange(give, r ^ d, incoming, r ^ d, group)  # (1)
    keep += incoming  # (2)
    _all_reduce(keep, d // 2, group)
    exchange(keep, r ^ d, give, r ^ d, group)  # (3)


def recursive_doubling_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Every rank's ``tensor`` becomes the sum over the ranks, in place. Returns ``tensor``.

    In the round of distance d, partners r and r XOR d swap all they have: afterwards each holds the sum over 2d ranks.
    log2 K rounds, log2 K·(alpha + N·beta) seconds; log2 K messages and log2 K·N bytes per rank: the fewest rounds, so
    the best for short tensors. UsageError if the number of ranks is not a power of two.
    """
    r, K = dist.get_rank(group), _power_of_two(group)
    with flat(tensor) as x:
        incoming = torch.empty_like(x)
        for i in range(K.bit_length() - 1):
            exchange(x, r ^ 2**i, incoming, r ^ 2**i, group)
            x += incoming
    return tensor


def _power_of_two(group: dist.ProcessGroup | None) -> int:
    K = dist.get_world_size(group)
    if K & (K - 1):
        raise UsageError(
            f"This algorithm pairs ranks at distances 1, 2, 4 ...: their number must be a power of two, not {K}.",
            "Use ring_all_reduce, or run it on 1, 2, 4, 8 ... ranks.",
        )
    return K
