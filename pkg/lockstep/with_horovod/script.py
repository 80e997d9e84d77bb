"""One training script, serial and on K ranks: with Horovod, and the same with torch's DistributedDataParallel.

The contract of all three: ``model`` (on each rank one of its own, with its own initial weights; rank 0's count),
``dataset`` (all of it, on each rank), ``checkpoint`` (``{"model": state_dict, "optimizer": state_dict}`` or None; on
rank 0 alone, None elsewhere), ``epochs``, ``batch`` (rows of a step, on each rank), ``rate`` (for one rank; K ranks
take K·rate, as Goyal et al. 2017, section 2.1, do), ``save`` (called with such a checkpoint). They return the model.

A checkpoint was written by the same training, so the rate in it is the one that counts. The number of rows is a
multiple of K·batch. Horovod's own list of these steps: "Horovod with PyTorch" in its documentation.
"""

# mypy: disable-error-code="no-untyped-call, var-annotated"

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

Rows = Dataset[tuple[Tensor, ...]]
Saved = Mapping[str, Any]
Save = Callable[[Saved], None]


def serial(
    model: nn.Module, dataset: Rows, checkpoint: Saved | None, epochs: int, batch: int, rate: float, save: Save
) -> nn.Module:
    """The serial script, for one process."""
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    for epoch in range(epochs):  # noqa: B007
        for x, y in DataLoader(dataset, batch, shuffle=True):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model


def distribute(
    model: nn.Module, dataset: Rows, checkpoint: Saved | None, epochs: int, batch: int, rate: float, save: Save
) -> nn.Module:
    """The same with Horovod, on its ranks: K times as many rows in each step."""
    import horovod.torch as hvd

    hvd.init()
    optimizer = torch.optim.SGD(model.parameters(), lr=hvd.size() * rate, momentum=0.9)
    optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    sampler = DistributedSampler(dataset, hvd.size(), hvd.rank())
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(dataset, batch, sampler=sampler):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    if hvd.rank() == 0:
        save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model


def ddp(
    model: nn.Module, dataset: Rows, checkpoint: Saved | None, epochs: int, batch: int, rate: float, save: Save
) -> nn.Module:
    """The same with torch alone, on the ranks of ``torch.distributed``. DistributedDataParallel broadcasts rank 0's
    model when it is constructed, and averages gradients; it does nothing about optimizers, so all ranks load the
    checkpoint."""
    rank, size = dist.get_rank(), dist.get_world_size()
    optimizer = torch.optim.SGD(model.parameters(), lr=size * rate, momentum=0.9)
    found = [checkpoint]
    dist.broadcast_object_list(found, src=0)
    if checkpoint := found[0]:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    replica = DistributedDataParallel(model)
    sampler = DistributedSampler(dataset)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(dataset, batch, sampler=sampler):
            optimizer.zero_grad()
            loss = F.mse_loss(replica(x), y)
            loss.backward()
            optimizer.step()
    if rank == 0:
        save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model
