"""Which learning rate suits K times the batch? Three rules, tried on the digits, and what others have published.

A step with K times the examples replaces K steps. They would have gone as far as a step that is K times as long, if the
gradient stayed the same meanwhile: *linear scaling*. The mean of K times the examples is √K times as accurate, so with
√K times the rate a step is as noisy as before: *square-root scaling*. At the beginning the gradient changes fast, and
a long step leads astray: *gradual warm-up* starts with the rate of the small batch, and adds the same in each step.

Sources: Krizhevsky, "One weird trick for parallelizing convolutional neural networks", arXiv:1404.5997 (square root);
Goyal et al., "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour", arXiv:1706.02677 (linear, warm-up).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch.nn import functional as F

from lockstep import datasets, models
from lockstep.errors import UsageError
from lockstep.launch.measure import one_thread
from lockstep.tables import Table, published
from lockstep.tally import counted

BATCH, RATE = 16, 0.1  # the small batch, and a learning rate that suits it
BATCHES = tuple(BATCH * 2**n for n in range(7))
EPOCHS, WARM = 20, 5  # WARM: epochs of warm-up
WRONG = 5.0  # percent of the test digits: what convergence() waits for
RATES = (0.4, 0.8, 1.6, 0.2, 0.1)
PATIENCE = 64_000  # examples after which convergence() gives a learning rate up

Schedule = Callable[[int], float]  # t = 1, 2, ... -> the learning rate of step t


def linear(rate: float, K: float) -> float:
    """The learning rate for K times the batch that ``rate`` suits."""
    return K * rate


def square_root(rate: float, K: float) -> float:
    """The learning rate for K times the batch that ``rate`` suits."""
    return math.sqrt(K) * rate


def warm_up(t: int, steps: int, rate: float, K: float) -> float:
    """Gradual warm-up: from ``rate`` before the first step to K·rate in step number ``steps``, by the same in each;
    then it stays."""
    return rate * (1 + (K - 1) * min(t / steps, 1))


@one_thread()  # small products: several threads would only wait for each other
def sweep(
    warm_up: Callable[[int, int, float, float], float] = warm_up, batches: Sequence[int] = BATCHES, full: bool = False
) -> list[tuple[int, str, float]]:
    """The digits under four rules, as (batch, rule, test error in percent): 20 epochs with each batch, five of them to
    warm up, and the mean of two models that begin differently, of ten if ``full``."""
    seeds, rows = 10 if full else 2, []
    for batch in counted(batches, "Training", each=0.3 * seeds):
        error = math.nan
        for rule, schedule in _schedules(batch, warm_up).items():
            if batch != BATCH or math.isnan(error):  # for the small batch all rules are one
                error = sum(_error_after(batch, schedule, seed) for seed in range(seeds)) / seeds
            rows.append((batch, rule, error))
    return rows


def goyal() -> list[tuple[int, str, float]]:
    """ResNet-50 on ImageNet as Goyal et al. have published it, as (batch, rule, validation error in percent)."""
    rows = published("data_parallel", "goyal_batch_vs_error.csv")
    return [(int(row["minibatch"]), row["rule"], float(row["top1_error_pct"])) for row in rows]


class Reached(NamedTuple):
    """With which learning rate the test error was small enough first, and after how much."""

    rate: float
    steps: float
    examples: float


@one_thread()
def convergence(batches: Sequence[int] = (8, 32, 128, 512), seeds: int = 3) -> dict[int, Reached]:
    """How many steps until 95 % of the test digits are right, with the best of five learning rates for each batch.

    Steps are the mean over ``seeds`` models. A rate is out when one of them takes twice as many steps as the best rate
    so far. Raises UsageError for a batch with which no rate comes there."""
    return {batch: _fastest(batch, seeds) for batch in counted(batches, "Training", each=0.3 * seeds)}


def convergence_table(reached: Mapping[int, Reached]) -> Table:
    """What ``convergence`` found, a row for each batch."""
    head = ("examples a batch", "best rate", "steps", "examples seen")
    rows = [[f"{batch}", f"{r.rate:g}", f"{r.steps:.0f}", f"{r.examples:,.0f}"] for batch, r in reached.items()]
    return Table(f"Until {100 - WRONG:g} % of the test digits are right", head, rows)


@cache
def _pixels() -> tuple[datasets.Examples, datasets.Examples]:
    (x, y), (x_test, y_test) = datasets.digits_split()
    return (x.flatten(1), y), (x_test.flatten(1), y_test)


def _schedules(batch: int, warm_up: Callable[[int, int, float, float], float]) -> dict[str, Schedule]:
    K, steps = batch / BATCH, WARM * (datasets.TRAINED // batch)
    return {
        "unscaled": lambda t: RATE,
        "square root": lambda t: square_root(RATE, K),
        "linear": lambda t: linear(RATE, K),
        "linear, warm-up": lambda t: warm_up(t, steps, RATE, K),
    }


def _error_after(batch: int, schedule: Schedule, seed: int) -> float:
    *_, error = _errors(batch, schedule, seed, EPOCHS * (datasets.TRAINED // batch), every=EPOCHS)
    return error


def _fastest(batch: int, seeds: int) -> Reached:
    best = Reached(0.0, math.inf, math.inf)
    for rate in RATES:
        most = min(PATIENCE // batch, 2 * best.steps)
        steps = sum(_steps_until_right(batch, rate, seed, int(most)) for seed in range(seeds)) / seeds
        best = min(best, Reached(rate, steps, batch * steps), key=lambda reached: reached.steps)
    if math.isinf(best.steps):
        raise UsageError(f"With a batch of {batch}, no learning rate gets there.", "Take one of at least 8.")
    return best


def _steps_until_right(batch: int, rate: float, seed: int, most: int) -> float:
    errors = _errors(batch, lambda t: rate, seed, most)
    return next((t for t, error in enumerate(errors, start=1) if error <= WRONG), math.inf)


def _errors(batch: int, schedule: Schedule, seed: int, steps: int, every: int = 1) -> Iterator[float]:
    """The test error in percent after each of ``steps`` steps of SGD, or only after ``every`` so many and the last."""
    (x, y), (x_test, y_test) = _pixels()
    model, generator, order = models.mlp([64, 64, 10], seed), torch.Generator().manual_seed(seed), torch.empty(0)
    parameters = list(model.parameters())
    for t in range(1, steps + 1):
        if len(order) < batch:
            order = torch.randperm(len(x), generator=generator)
        chosen, order = order[:batch], order[batch:]
        gradients = torch.autograd.grad(F.cross_entropy(model(x[chosen]), y[chosen]), parameters)
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p.sub_(schedule(t) * g)
            if t % every == 0 or t == steps:
                yield 100 * (model(x_test).argmax(1) != y_test).double().mean().item()
