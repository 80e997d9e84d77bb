"""Checking that replicas are identical: one that has diverged keeps training, and its loss looks healthy.

Two steps. Each rank hashes the bits of all its parameters to one integer h, a fingerprint. Then one all-reduce of two
numbers compares the fingerprints:

    rank        0          1          2               all have the same h   <=>   largest h = smallest h
    h           5          7          5
    (h, -h)    (5, -5)    (7, -7)    (5, -5)          MAX   ->   (7, -5)    largest 7, smallest 5: they differ

MAX of -h is -MIN of h, so that one operation gives both extremes, and every rank gets the same answer from them.

A fingerprint must depend on all bits. A sum misses two elements that changed places, and changes that cancel; Python's
own ``hash`` of bytes is seeded differently in each process. Cost: 16 bytes a rank, whatever the size of the model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.data_parallel.sgd import average_gradients
from lockstep.models import mlp
from lockstep.tables import Table
from lockstep.worlds import run


def replicas_agree(parameters: Iterable[Tensor], group: dist.ProcessGroup | None = None) -> bool:
    """Whether all ranks of the group hold the same bits, tensor by tensor: the same answer on every rank."""
    tensors = list(parameters)
    h = fingerprint(tensors)
    ends = torch.tensor([h, -h], device=tensors[0].device)  # on the parameters' device, as NCCL needs
    dist.all_reduce(ends, dist.ReduceOp.MAX, group=group)
    largest, smallest = ends[0].item(), -ends[1].item()
    return largest == smallest


def fingerprint(parameters: Iterable[Tensor]) -> int:
    """A 56-bit hash of all bits, with a collision in one case of 10^16; it and its negative fit into an int64."""
    digest = hashlib.sha256()
    for parameter in parameters:
        flat = parameter.detach().cpu().reshape(-1).clone(memory_format=torch.contiguous_format)
        digest.update(flat.view(torch.uint8).numpy().tobytes())
    return int.from_bytes(digest.digest()[:7], "big")


def one_alone(ranks: int = 8, steps: int = 100, alone: int = 3) -> Table:
    """Each rank's loss on its own examples, in a training where rank ``alone`` uses its own gradient instead of the
    mean. The table does not say which rank it is; nor do the losses."""
    losses = run(_trained, alone, steps, ranks=ranks, on="dgx-a100").values
    rows = [[f"{rank}", f"{first:.3f}", f"{last:.3f}"] for rank, (first, last) in enumerate(losses)]
    head = ["rank", "first loss", f"loss after {steps} steps"]
    return Table(f"One of {ranks} ranks trains a model of its own", head, rows)


def _trained(alone: int, steps: int) -> tuple[float, float]:
    """The first and the last loss of this rank."""
    rank = dist.get_rank()
    x = torch.randn(256, 4, generator=torch.Generator().manual_seed(rank))
    y, model = x[:, :1] * x[:, 1:2], mlp([4, 8, 1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()  # type: ignore[no-untyped-call]
        losses.append(loss.item())
        own = [p.grad for p in model.parameters()]
        average_gradients(model.parameters(), len(x))
        if rank == alone:
            for p, gradient in zip(model.parameters(), own, strict=True):
                p.grad = gradient
        optimizer.step()
    return losses[0], losses[-1]
