"""A backward pass whose gradients travel in buckets while earlier layers still compute, as a run to look at."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lockstep.data_parallel.ddp import bucketed_ddp
from lockstep.models import mlp
from lockstep.worlds import Result, run

WIDTH, LAYERS, EXAMPLES = 1024, 4, 4096


class Loss(nn.Sequential):
    """A model that gives its loss."""

    def forward(self, x: Tensor) -> Tensor:
        for layer in self:
            x = layer(x)
        return x.square().mean()


def bucket_run(ranks: int = 4) -> Result:
    """A step without data, with a bucket for each layer."""
    return run(_step, ranks=ranks, on="commodity-10g", fake=True)


def _step() -> None:
    model = Loss(*mlp([WIDTH] * (LAYERS + 1)))
    bucketed_ddp(model, torch.ones(EXAMPLES, WIDTH), bucket_bytes=4 * WIDTH**2)
