"""A checkpoint of K ranks, loaded by another number of ranks: each reads the numbers it needs, and no others.

    N numbers; n = ceil(N/old) in a saved shard, n' = ceil(N/new) in a loaded one. 0 is padding

    old 3   │ w0 w1 w2 │ w3 w4 w5 │ w6 0 0 │      (1) rank r of the new ones needs the numbers r·n' to (r+1)·n',
    new 4   │ w0 w1 │ w2 w3 │ w4 w5 │ w6 0 │          but none from N on
                                                  (2) of them, old rank q has q·n to (q+1)·n, counted from q·n
    rank 1 reads w2 of old rank 0                 (3) what is left is padding, and stands in no file
             and w3 of old rank 1

torch.distributed.checkpoint does the same for tensors of any dimension: it cuts what is asked for along what was saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from lockstep.sharded.flat import shard_length

Read = Callable[[int, int, int], Tensor]  # (old rank, begin, end) -> the numbers of its shard from begin to end


def pieces(numel: int, old: int, new: int, rank: int) -> Iterator[tuple[int, int, int]]:
    """What ``rank`` of ``new`` ranks needs: (old rank, begin, end) in that one's shard, in order."""
    n, own = shard_length(numel, old), shard_length(numel, new)
    at, last = rank * own, min((rank + 1) * own, numel)  # (1)
    while at < last:
        q = at // n
        end = min((q + 1) * n, last)
        yield q, at - q * n, end - q * n  # (2)
        at = end


def reshard(read: Read, numel: int, old: int, new: int, rank: int) -> Tensor:
    """The shard (ceil(numel/new),) of ``rank`` among ``new``, out of the shards that ``old`` ranks saved."""
    shard = torch.zeros(shard_length(numel, new))  # (3)
    at = 0
    for q, begin, end in pieces(numel, old, new, rank):
        shard[at : at + end - begin] = read(q, begin, end)
        at += end - begin
    return shard
