"""The same training in the style of PyTorch Lightning: the model says what is trained, a trainer says how and where.

Lightning is not installed here. ``Trainer`` below is Lockstep's own, written to show what such a trainer hides; only
the names are Lightning's: ``training_step``, ``configure_optimizers``, ``train_dataloader``, ``trainer.world_size``,
``fit``, and the sampler that Lightning puts in by itself (``use_distributed_sampler``). Lightning's has dozens of
options more. The learning rate it leaves to you, as ours does.
"""

# mypy: disable-error-code="no-untyped-call, var-annotated"

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from lockstep.with_horovod.script import Rows, Save, Saved


class LightningStyle(nn.Module):
    """What you would write: no rank, no broadcast, no all-reduce."""

    trainer: Trainer

    def __init__(self, model: nn.Module, dataset: Rows, batch: int, rate: float) -> None:
        super().__init__()
        self.model, self.dataset, self.batch, self.rate = model, dataset, batch, rate

    def training_step(self, batch: list[Tensor], batch_idx: int) -> Tensor:
        x, y = batch
        return F.mse_loss(self.model(x), y)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.model.parameters(), lr=self.trainer.world_size * self.rate, momentum=0.9)

    def train_dataloader(self) -> DataLoader[Any]:
        return DataLoader(self.dataset, self.batch, shuffle=True)

    def forward(self, batch: list[Tensor], batch_idx: int) -> Tensor:
        """DistributedDataParallel watches calls of the module itself."""
        return self.training_step(batch, batch_idx)


class Trainer:
    """What such a trainer does for you, in some 25 lines. It runs on each rank of ``torch.distributed``."""

    def __init__(self, max_epochs: int) -> None:
        self.max_epochs, self.world_size = max_epochs, dist.get_world_size()

    def fit(self, module: LightningStyle, checkpoint: Saved | None = None) -> None:
        module.trainer = self
        self.module, self.optimizer = module, module.configure_optimizers()
        found = [checkpoint]
        dist.broadcast_object_list(found, src=0)
        if checkpoint := found[0]:
            module.model.load_state_dict(checkpoint["model"])
            self.optimizer.load_state_dict(checkpoint["optimizer"])
        replica = DistributedDataParallel(module)
        given = module.train_dataloader()
        sampler = DistributedSampler(given.dataset)
        batches = DataLoader(given.dataset, given.batch_size, sampler=sampler)
        for epoch in range(self.max_epochs):
            sampler.set_epoch(epoch)
            for index, batch in enumerate(batches):
                self.optimizer.zero_grad()
                replica(batch, index).backward()
                self.optimizer.step()

    def save_checkpoint(self, save: Save) -> None:
        if dist.get_rank() == 0:
            save({"model": self.module.model.state_dict(), "optimizer": self.optimizer.state_dict()})


def lightning(
    model: nn.Module, dataset: Rows, checkpoint: Saved | None, epochs: int, batch: int, rate: float, save: Save
) -> nn.Module:
    """``distribute`` of ``script.py``, with the trainer above: three lines are left."""
    trainer = Trainer(max_epochs=epochs)
    trainer.fit(LightningStyle(model, dataset, batch, rate), checkpoint)
    trainer.save_checkpoint(save)
    return model
