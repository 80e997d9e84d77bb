"""Does local SGD generalise better than a large batch? A small trial on the digits, with whatever result it gives.

16 ranks with 16 examples each make a batch of 256. Lin et al. found that a model whose ranks take local steps in the
second part of the training, *post-local SGD*, is better on new examples than one trained with all-reduces throughout:
between two averages, each rank's steps are those of a small batch, with their noise. Here it is no better: the errors
of the two differ by less than their uncertainty. The network is small, 517 examples are too few to resolve such
differences, and once the learning rate is a tenth the models hardly drift. What post-local SGD saves is all-reduces.

All replicas are trained in one process, as rows of one tensor: the mean of models is a mean over its rows. Source: Lin,
Stich, Patel and Jaggi, Don't Use Large Mini-Batches, Use Local SGD, ICLR 2020, arXiv:1808.07217.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, stdev
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from lockstep.datasets import TRAINED, Examples, digits_split
from lockstep.models import mlp
from lockstep.tables import Table, published
from lockstep.tally import counted
from lockstep.this_machine.measure import one_thread

RANKS, BATCH, RATE = 16, 16, 0.1  # BATCH: of each rank; RATE: the learning rate of one rank alone
SCALED = 8  # times RATE for all ranks together: of 4, 8 and 16 times the best for the batch of 256
EPOCHS, WARM, HALF = 40, 4, 20  # WARM: epochs of warm-up; after epoch HALF the learning rate is a tenth
PERIOD = 16


@dataclass(frozen=True)
class Way:
    """How to train: average all models after every step, and from epoch ``switch`` on every ``period`` steps."""

    ranks: int
    period: int = 1
    switch: int = 0

    def meets(self, t: int) -> bool:
        """Whether all models are averaged after step t = 1, 2, ..."""
        local = t - self.switch * self.steps_an_epoch
        return local <= 0 or local % self.period == 0 or t == EPOCHS * self.steps_an_epoch

    @property
    def steps_an_epoch(self) -> int:
        return TRAINED // (self.ranks * BATCH)


WAYS = {
    f"batch {BATCH}, one rank": Way(1),
    f"batch {RANKS * BATCH}, {RANKS} ranks": Way(RANKS),
    f"post-local SGD, period {PERIOD} from epoch {HALF}": Way(RANKS, PERIOD, HALF),
    f"local SGD, period {PERIOD}": Way(RANKS, PERIOD),
}


class Tried(NamedTuple):
    """The mean over several models; errors in percent, and the standard error of the test error's mean."""

    way: str
    all_reduces: int
    train_loss: float
    test_error: float
    uncertain: float


@one_thread()
def sweep(seeds: int = 5) -> list[Tried]:
    """Each way with so many models of different initial weights, at least two."""
    rows = []
    for name, way in counted(WAYS.items(), "Training", each=0.6 * seeds):
        losses, errors = zip(*(train(way, seed) for seed in range(seeds)), strict=True)
        meetings = sum(way.meets(t) for t in range(1, EPOCHS * way.steps_an_epoch + 1)) if way.ranks > 1 else 0
        rows.append(Tried(name, meetings, mean(losses), mean(errors), stdev(errors) / math.sqrt(seeds)))
    return rows


def table(rows: Sequence[Tried]) -> Table:
    """The results of ``sweep``."""
    body = [
        [r.way, f"{r.all_reduces}", f"{r.train_loss:.4f}", f"{r.test_error:.2f} % ± {r.uncertain:.2f}"] for r in rows
    ]
    head = ("", "all-reduces", "loss", "test error")
    return Table(f"Digits, {EPOCHS} epochs; ± is the standard error of the mean", head, body)


def published_post_local() -> Table:
    """The rows on local SGD in our table of published numbers."""
    rows = [
        row
        for row in published("experiments/without_waiting", "async_and_compression.csv")
        if "ocal SGD" in row["work"]
    ]
    body = [[row["work"], row["item"], row["value"], row["source"]] for row in rows]
    return Table("Published: local SGD", ("work", "of", "value", "source"), body)


def train(way: Way, seed: int) -> tuple[float, float]:
    """The loss and the test error in percent of the mean model, after EPOCHS epochs."""
    (x, y), _ = _pixels()
    replicas = [p.detach().expand(way.ranks, *p.shape).clone() for p in mlp([64, 64, 10], seed).parameters()]
    drawn, steps = torch.Generator().manual_seed(seed), way.steps_an_epoch
    for epoch in range(EPOCHS):
        chosen = torch.randperm(len(x), generator=drawn).view(steps, way.ranks, BATCH)
        for t, rows in enumerate(chosen, start=1 + epoch * steps):
            for p, g in zip(replicas, gradients(replicas, x[rows], y[rows]), strict=True):
                p -= _rate(way, t) * g
                if way.meets(t):
                    p[:] = p.mean(0)
    return _judged([p[0] for p in replicas])


def gradients(replicas: Sequence[Tensor], x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """The gradients of each replica's mean loss on its own examples: x (ranks, n, 64), y (ranks, n)."""
    weights = [p.requires_grad_() for p in replicas]
    each = F.cross_entropy(scores(weights, x).flatten(0, 1), y.flatten(), reduction="none")
    found = torch.autograd.grad(each.view(y.shape).mean(1).sum(), weights)
    for p in weights:
        p.requires_grad_(False)
    return found


def scores(replicas: Sequence[Tensor], x: Tensor) -> Tensor:
    """The outputs of two linear layers with ReLU between them, of one network for each row of the parameters."""
    w1, b1, w2, b2 = replicas
    hidden = torch.relu(torch.baddbmm(b1.unsqueeze(1), x, w1.transpose(1, 2)))
    return torch.baddbmm(b2.unsqueeze(1), hidden, w2.transpose(1, 2))


def _rate(way: Way, t: int) -> float:
    warm = 1 + (SCALED - 1) * (way.ranks > 1) * min(t / (WARM * way.steps_an_epoch), 1)
    return RATE * warm * (1 if t <= HALF * way.steps_an_epoch else 0.1)


def _judged(parameters: Sequence[Tensor]) -> tuple[float, float]:
    (x, y), (x_test, y_test) = _pixels()
    model = [p.unsqueeze(0) for p in parameters]
    loss = F.cross_entropy(scores(model, x.unsqueeze(0))[0], y).item()
    wrong = scores(model, x_test.unsqueeze(0))[0].argmax(1) != y_test
    return loss, 100 * wrong.double().mean().item()


@cache
def _pixels() -> tuple[Examples, Examples]:
    (x, y), (x_test, y_test) = digits_split()
    return (x.flatten(1), y), (x_test.flatten(1), y_test)
