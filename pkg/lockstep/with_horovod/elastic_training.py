"""Elastic training: no step is lost and none is made twice, whichever workers leave and join."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F


def elastic_state(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, batches: Sequence[tuple[Tensor, Tensor]], every: int
) -> torch.nn.Module:
    """Train ``model`` on all ``batches`` with Elastic Horovod, each batch divided among the ranks that there are at the
    time, and return it.

    The state has all that must survive a failure: the model, the optimizer's momentum, and the number of steps done. It
    is committed ``every`` so many steps. After a failure the loop restarts from the last commit, with the ranks that
    are left."""
    import horovod.torch as hvd

    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0)

    @hvd.elastic.run  # type: ignore[untyped-decorator]
    def train(state: hvd.elastic.TorchState) -> None:
        while state.step < len(batches):
            x, y = (part[hvd.rank() :: hvd.size()] for part in batches[state.step])
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            state.step += 1
            if state.step % every == 0:
                state.commit()

    train(state)
    return model
