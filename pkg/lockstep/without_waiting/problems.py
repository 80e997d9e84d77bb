"""What this unit trains: digits in ten classes, or a quadratic for each rank; and a cluster on which time is countable.

    problem = Digits(alpha=0.1)                     few classes on each rank
    gradient = Recorded(problem.of(rank, ranks))    gradient(w, step), as all exercises of this unit take it
    w = local_sgd(gradient, problem.start(), 100, 0.5, 10)
    gradient.seen                                   [(virtual seconds, w)]: problem.loss(w) is counted after the run

On ``cluster()`` only matrix products take time: the gradient of a minibatch takes exactly ``GRADIENT`` seconds, and on
the straggler as many times longer. What a run records takes no virtual time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import torch
from torch import Tensor

from lockstep.datasets import Examples, digits_split
from lockstep.errors import UsageError
from lockstep.machines import Cluster, Device, Link
from lockstep.this_machine.measure import one_thread
from lockstep.without_waiting.local_sgd import Gradient

PIXELS, CLASSES = 64, 10
BATCH = 16  # examples of a minibatch
GRADIENT = 1e-3  # seconds that the gradient of such a minibatch takes on cluster(), on a rank that is no straggler
FLOPS = 2 * 2 * BATCH * (PIXELS + 1) * CLASSES  # two matrix products: the scores, and the gradient from their errors
BYTES = 8 * (PIXELS + 1) * CLASSES  # of the parameters, and of a gradient


class Problem(Protocol):
    """A loss that several ranks minimise together, each with examples of its own."""

    def start(self) -> Tensor:
        """The parameters to begin with: zeros, the same on all ranks."""

    def gradient(self, w: Tensor, rank: int, ranks: int, step: int) -> Tensor:
        """The gradient at ``w`` of the minibatch that rank ``rank`` of ``ranks`` uses in its step ``step``: a new
        tensor like w."""

    def loss(self, w: Tensor) -> float:
        """The loss over all ranks' examples together, which the training minimises."""


def of_rank(problem: Problem, rank: int, ranks: int) -> Gradient:
    """``gradient(w, step)`` of one rank, as the functions of this unit take it."""
    return lambda w, step: problem.gradient(w, rank, ranks, step)


class Recorded:
    """A gradient that records when it was called, in seconds, and with which parameters: ``seen`` is a list of pairs, w
    as a NumPy array. Computing the loss during the run would take virtual time, so it is done afterwards."""

    def __init__(self, gradient: Gradient) -> None:
        self.gradient = gradient
        self.seen: list[tuple[float, object]] = []

    def __call__(self, w: Tensor, step: int) -> Tensor:
        self.seen.append((time.perf_counter(), w.detach().numpy().copy()))
        return self.gradient(w, step)


@dataclass(frozen=True)
class Digits:
    """Softmax regression on the 1,280 digits of ``datasets.digits_split()``: 650 float64 parameters, 64 x 10 weights
    and then 10 biases, in one vector. Each rank cycles through its own examples, ``batch`` at a time, in an order drawn
    once.

    ``alpha``: None divides the examples evenly. A number divides them by class: of each class the ranks get shares
    drawn from a Dirichlet distribution, all of whose parameters are alpha. With 100 they are nearly equal, with 0.1
    most of a class is on one rank or two, and some ranks have several times as many examples as others. Source: Hsu, Qi
    and Brown, Measuring the Effects of Non-Identical Data Distribution for Federated Visual Classification, 2019,
    arXiv:1909.06335; here with shares of each class, as in Li et al. 2021, arXiv:2102.02079."""

    alpha: float | None = None
    batch: int = BATCH
    seed: int = 0

    def start(self) -> Tensor:
        return torch.zeros((PIXELS + 1) * CLASSES, dtype=torch.float64)

    def gradient(self, w: Tensor, rank: int, ranks: int, step: int) -> Tensor:
        """The gradient of the mean cross-entropy of a minibatch of this rank's examples. A rank without examples has a
        gradient of 0."""
        n, x, y = _round_and_round(ranks, self.alpha, self.seed, self.batch)[rank]
        if not n:
            return torch.zeros_like(w)
        begin = step * self.batch % n
        return softmax_gradient(w, x[begin : begin + self.batch], y[begin : begin + self.batch])

    def of(self, rank: int, ranks: int) -> Gradient:
        """``gradient(w, step)`` of one rank."""
        return of_rank(self, rank, ranks)

    def examples(self, rank: int, ranks: int) -> Examples:
        """The training examples of rank ``rank`` of ``ranks``: x (n, 64), float64, and y (n,), int64."""
        return parts(ranks, self.alpha, self.seed)[rank]

    @one_thread()  # small products: two threads would spend 20 times as much, waiting for each other
    def loss(self, w: Tensor) -> float:
        """The mean cross-entropy over all training examples: log 10 = 2.30 at the start."""
        x, y = _data()[0]
        return float(torch.nn.functional.cross_entropy(scores(w, x), y))

    @one_thread()
    def accuracy(self, w: Tensor) -> float:
        """The share of the 517 test examples that are classified correctly."""
        x, y = _data()[1]
        return float((scores(w, x).argmax(1) == y).double().mean())


@dataclass(frozen=True)
class Bowls:
    """A quadratic loss for each rank: the mean over the coordinates i of curvature[r, i]·(w[i] - centre[r, i])²/2 on
    rank r; the loss of all is the mean over the ranks. Its minimum is known (``best``), and differs from the mean of
    the ranks' own minima: averaging models that have gone far on their own ends elsewhere. There is no noise: each step
    has the same gradient."""

    size: int = 8
    seed: int = 0

    def start(self) -> Tensor:
        return torch.zeros(self.size, dtype=torch.float64)

    def gradient(self, w: Tensor, rank: int, ranks: int, step: int) -> Tensor:
        curvature, centre = self.bowls(ranks)
        return curvature[rank] * (w - centre[rank]) / self.size

    def of(self, rank: int, ranks: int) -> Gradient:
        """``gradient(w, step)`` of one rank."""
        return of_rank(self, rank, ranks)

    def bowls(self, ranks: int) -> tuple[Tensor, Tensor]:
        """Curvatures, between 1/2 and 3/2, and centres: two tensors (ranks, size)."""
        draw = torch.Generator().manual_seed(self.seed)
        curvature = 0.5 + torch.rand(ranks, self.size, dtype=torch.float64, generator=draw)
        return curvature, torch.randn(ranks, self.size, dtype=torch.float64, generator=draw)

    def best(self, ranks: int) -> Tensor:
        """The parameters that minimise the loss of all ranks."""
        curvature, centre = self.bowls(ranks)
        return (curvature * centre).sum(0) / curvature.sum(0)

    def loss(self, w: Tensor, ranks: int = 8) -> float:
        curvature, centre = self.bowls(ranks)
        return float((curvature * (w - centre).square()).mean() / 2)


def scores(w: Tensor, x: Tensor) -> Tensor:
    """x·W + b, where ``w`` holds the weights W, 64 x 10, and then the biases b: (n, 10)."""
    return with_ones(x) @ w.view(-1, CLASSES)


def softmax_gradient(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The gradient of the mean cross-entropy at ``w`` (650,), for examples x (n, 65) whose last column is 1, and their
    classes y (n, 10), one-hot."""
    error = (x @ w.view(-1, CLASSES)).softmax(1).sub_(y).div_(len(y))
    return (x.T @ error).flatten()


def with_ones(x: Tensor) -> Tensor:
    """x with one more column, of ones, by which the biases are multiplied."""
    return torch.cat([x, x.new_ones(len(x), 1)], 1)


def cluster(straggler: float = 1.0, alpha: float = 20e-6, beta: float = 1e-9, who: int = 1) -> Cluster:
    """A cluster on which the gradient of a minibatch of ``Digits`` takes GRADIENT seconds: matrix products run at a
    fixed FLOP/s, everything else takes no time. Each rank has a node of its own. A message of n bytes takes alpha +
    n·beta seconds. Rank ``who`` takes ``straggler`` times as long for all that it computes."""
    device = Device("countable", {"float32": FLOPS / GRADIENT}, memory_bandwidth=1e30, memory=10**12, launch_overhead=0)
    link = Link(alpha, beta)
    made = Cluster("countable", device, 1, link, link)
    return made if straggler == 1 else made.with_rank(who, speed=1 / straggler)


@cache
def parts(ranks: int, alpha: float | None, seed: int) -> tuple[Examples, ...]:
    """The training examples, divided among ``ranks``: see ``Digits``. Raises UsageError for no ranks, or an alpha that
    is not above zero."""
    if ranks < 1 or (alpha is not None and not alpha > 0):
        raise UsageError("Parts need a rank and an alpha above 0.", "Write parts(ranks=8, alpha=0.1, seed=0).")
    x, y = _data()[0]
    draw = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(x), generator=draw)
    if alpha is None:
        return tuple((x[mine], y[mine]) for mine in order.tensor_split(ranks))
    owner = torch.empty(len(x), dtype=torch.int64)
    for label in range(CLASSES):
        those = order[y[order] == label]
        ends = (dirichlet(ranks, alpha, draw).cumsum(0) * len(those)).round().long()
        owner[those] = torch.searchsorted(ends, torch.arange(len(those)), right=True).clamp(max=ranks - 1)
    mine = [order[owner[order] == rank] for rank in range(ranks)]
    return tuple((x[rows], y[rows]) for rows in mine)


def dirichlet(n: int, alpha: float, draw: torch.Generator) -> Tensor:
    """n float64 shares that sum to 1, drawn from a Dirichlet distribution with all parameters alpha."""
    log_gamma = torch.log(torch._standard_gamma(torch.full((n,), alpha + 1, dtype=torch.float64), generator=draw))
    smaller = torch.log(torch.rand(n, dtype=torch.float64, generator=draw)) / alpha  # Gamma(a) = Gamma(a+1)·U^(1/a)
    return (log_gamma + smaller).softmax(0)


@cache
def _round_and_round(ranks: int, alpha: float | None, seed: int, batch: int) -> list[tuple[int, Tensor, Tensor]]:
    """For each rank its number of examples, and the examples as ``softmax_gradient`` takes them, repeated so that a
    minibatch that starts at any of them is contiguous in memory."""
    found = []
    for x, y in parts(ranks, alpha, seed):
        n = len(x)
        rows = torch.arange(n + batch) % max(1, n)
        classes = torch.nn.functional.one_hot(y, CLASSES).double()
        found.append((n, with_ones(x)[rows], classes[rows]) if n else (0, x, y))
    return found


@cache
def _data() -> tuple[Examples, Examples]:
    (x, y), (x_test, y_test) = digits_split()
    return (x.double().flatten(1), y), (x_test.double().flatten(1), y_test)
