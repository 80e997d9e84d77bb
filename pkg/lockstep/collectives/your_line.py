"""A ring all-reduce and a recursive doubling with one decision left open: the learner's line of lesson 04 runs here.

``ring.py`` and ``halving_doubling.py`` have the complete algorithms.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.collectives.exchange import exchange, flat


def driven_ring(tensor: Tensor, chunk_to_send: Callable[[int, int, int], int]) -> Tensor:
    """A ring all-reduce over the whole world, in place. ``chunk_to_send(rank, step, K)``: the number of the chunk that
    a rank sends to its right."""
    r, K = dist.get_rank(), dist.get_world_size()
    with flat(tensor) as x:
        chunks = x.tensor_split(K)
        for step in range(2 * (K - 1)):
            number = chunk_to_send(r, step, K)
            target = chunks[(number - 1) % K]
            incoming = torch.empty_like(target)
            exchange(chunks[number], (r + 1) % K, incoming, (r - 1) % K)
            target.copy_(target + incoming if step < K - 1 else incoming)
    return tensor


def driven_doubling(tensor: Tensor, partner: Callable[[int, int], int]) -> Tensor:
    """Recursive doubling over the whole world, in place: ranks swap whole tensors with ``partner(rank, distance)``, at
    the distances 1, 2, 4 ... The number of ranks must be a power of two."""
    with flat(tensor) as x:
        incoming, distance = torch.empty_like(x), 1
        while distance < dist.get_world_size():
            other = partner(dist.get_rank(), distance)
            exchange(x, other, incoming, other)
            x += incoming
            distance *= 2
    return tensor
