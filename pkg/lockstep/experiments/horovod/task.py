"""A task for training scripts: a network, rows that can be told apart, a checkpoint. All of it from a seed, in float64,
so that a single wrong step is visible at once."""

# mypy: disable-error-code="no-untyped-call, var-annotated"

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from lockstep.models import linear

COLUMNS = 3
MOST = 1024  # rows
MOMENTUM = 0.9


class Network(nn.Module):
    """A network from rows (n, 3) to (n, 1), with a buffer, ``middle``. ``frozen``: its second layer is not trained."""

    middle: Tensor

    def __init__(self, seed: int, frozen: bool) -> None:
        super().__init__()
        self.register_buffer("middle", torch.randn(COLUMNS, generator=torch.Generator().manual_seed(seed)).double())
        widths = ((COLUMNS, 4), (4, 3), (3, 1))
        self.layers = nn.ModuleList(linear(*row, seed, n, torch.float64) for n, row in enumerate(widths))
        self.layers[1].requires_grad_(not frozen)

    def forward(self, x: Tensor) -> Tensor:
        first, second, last = self.layers
        outputs: Tensor = last(torch.tanh(second(torch.tanh(first(x - self.middle)))))
        return outputs


@dataclass(frozen=True)
class Task:
    """Rows for ``steps`` steps an epoch. With or without a ``checkpoint``, on rank 0; with or without a ``frozen``
    layer."""

    seed: int
    ranks: int
    batch: int = 2
    steps: int = 3
    epochs: int = 3
    checkpoint: bool = False
    frozen: bool = False
    rate: float = 1 / 64

    @property
    def rows(self) -> int:
        """The number of rows, at most 1,024."""
        return self.ranks * self.batch * self.steps

    def model(self, rank: int) -> Network:
        """The model of this rank, with weights of its own."""
        return Network(self.seed + 1 + rank, self.frozen)

    def at(self, numbers: Tensor) -> Network:
        """The network whose `state` these numbers are."""
        model = self.model(0)
        named = model.state_dict()
        pieces = numbers.split([t.numel() for t in named.values()])
        model.load_state_dict({n: p.reshape(t.shape) for (n, t), p in zip(named.items(), pieces, strict=True)})
        return model

    def data(self) -> tuple[Tensor, Tensor]:
        """x, (n, 3), whose first column identifies the row; y, (n, 1), every fourth of which is large."""
        drawn = torch.Generator().manual_seed(self.seed)
        x = torch.randint(-16, 17, (self.rows, COLUMNS), generator=drawn).double() / 8
        y = x[:, 1:2] - 2 * x[:, 2:] + torch.randn(self.rows, 1, generator=drawn).double() / 2
        x[:, 0] = torch.arange(self.rows).double() / MOST
        y[::4] *= 3
        return x, y

    def saved(self) -> dict[str, Any]:
        """The checkpoint: of a model with other weights than any rank's, after one step of its optimizer."""
        model = self.model(-1)
        optimizer = torch.optim.SGD(model.parameters(), lr=self.ranks * self.rate, momentum=MOMENTUM)
        F.mse_loss(model(self.data()[0]), 2 * self.data()[1]).backward()
        optimizer.step()
        return copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})

    def arguments(self, rank: int) -> tuple[Any, ...]:
        """The arguments of a script on that rank, except for ``save``."""
        checkpoint = self.saved() if self.checkpoint and rank == 0 else None
        return self.model(rank), TensorDataset(*self.data()), checkpoint, self.epochs, self.batch, self.rate


def told_rows(x: Tensor) -> list[int]:
    """The numbers of these rows in the dataset; -1 for a row that is not in it."""
    numbers = (x.detach().double().reshape(-1, COLUMNS)[:, 0] * MOST).tolist()
    return [int(v) if v == int(v) and 0 <= v < MOST else -1 for v in numbers]


def flat(tensors: Sequence[Tensor]) -> Tensor:
    """All numbers in one vector, copied."""
    return torch.cat([t.detach().double().flatten() for t in tensors])


def state(model: nn.Module) -> Tensor:
    """Parameters and buffers in one vector, in the order of the state_dict."""
    return flat(list(model.state_dict().values()))
