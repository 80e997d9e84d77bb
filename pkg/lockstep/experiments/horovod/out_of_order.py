"""Collectives in different orders, a bug and two ways to fix it: rank 0 all-reduces a and then b, the others b and a.

``torch.distributed`` matches the n-th collective of each rank, whatever tensors it is of. So a is added to b. Where
their lengths differ that is a Mismatch; where they are equal there is no error, and both sums are wrong. Horovod
matches by name.
"""

from __future__ import annotations

import torch.distributed as dist
from torch import Tensor

from lockstep.with_horovod.negotiation import negotiate


def out_of_order(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Wrong: meant to give the sums of a and of b over all ranks, in place."""
    for tensor in _own_order(a, b).values():
        dist.all_reduce(tensor)
    return a, b


def out_of_order_negotiated(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The same with a coordinator that decides on the order: right."""
    negotiate({name: tensor} for name, tensor in _own_order(a, b).items())
    return a, b


def out_of_order_horovod(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The same by Horovod, on its ranks: each starts both in its own order, and then waits for both."""
    import horovod.torch as hvd

    tensors = _own_order(a, b)
    handles = [hvd.allreduce_async_(tensor, name=name, op=hvd.Sum) for name, tensor in tensors.items()]
    for handle in handles:
        hvd.synchronize(handle)
    return a, b


def _own_order(a: Tensor, b: Tensor) -> dict[str, Tensor]:
    return {"a": a, "b": b} if dist.get_rank() == 0 else {"b": b, "a": a}
