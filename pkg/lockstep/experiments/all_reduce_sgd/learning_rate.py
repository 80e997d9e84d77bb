"""Learning rates for K times the batch: three scaling rules, tried on the digits, and published results.

A step with K times the examples replaces K steps, which would go as far as one step with K times the rate if the
gradient did not change: *linear scaling*. The mean over K times the examples has a standard error smaller by √K, so
with √K times the rate a step is as noisy as before: *square-root scaling*. Early in training the gradient changes fast,
and long steps can diverge: *gradual warm-up* starts with the rate of the small batch, and adds the same in each step.

Sources: Krizhevsky, "One weird trick for parallelizing convolutional neural networks", arXiv:1404.5997 (square root);
Goyal et al., "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour", arXiv:1706.02677 (linear, warm-up).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import cycle, islice
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from lockstep import datasets, models
from lockstep.errors import UsageError
from lockstep.show.chart import Chart
from lockstep.show.curves import curves
from lockstep.tables import Table, published
from lockstep.tally import counted
from lockstep.this_machine.measure import one_thread

BATCH, RATE = 16, 0.1  # the small batch, and a learning rate that suits it
BATCHES = tuple(BATCH * 2**n for n in range(7))
EPOCHS, WARM = 20, 5  # WARM: epochs of warm-up
WRONG = 5.0  # percent of the test digits: what convergence() waits for
RATES = (0.2, 0.4, 0.8, 1.6)
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
    seeds = range(10 if full else 2)
    rows: list[tuple[int, str, float]] = []
    for batch in counted(batches, "Training", each=0.1 * len(seeds)):
        schedules, steps = _schedules(batch, warm_up), EPOCHS * (datasets.TRAINED // batch)
        tried = list(schedules.values())[: 1 if batch == BATCH else None]  # for the small batch all rules are one
        *_, errors = _errors(batch, tried, seeds, steps, every=steps)
        rows += [(batch, rule, error) for rule, error in zip(schedules, cycle(errors.mean(1).tolist()), strict=False)]
    return rows


def goyal() -> list[tuple[int, str, float]]:
    """ResNet-50 on ImageNet as Goyal et al. have published it, as (batch, rule, validation error in percent)."""
    rows = published("experiments/all_reduce_sgd", "goyal_batch_vs_error.csv")
    return [(int(row["minibatch"]), row["rule"], float(row["top1_error_pct"])) for row in rows]


class Reached(NamedTuple):
    """With which learning rate the test error was small enough first, and after how much."""

    rate: float
    steps: float
    examples: float


@one_thread()
def convergence(batches: Sequence[int] = (8, 32, 128, 512), seeds: int = 3) -> dict[int, Reached]:
    """How many steps until 95 % of the test digits are right, with the best of four learning rates for each batch.

    Steps are the mean over ``seeds`` models. All rates are tried at once, until no other one can have a smaller mean.
    Raises UsageError for a batch with which no rate comes there."""
    return {batch: _fastest(batch, range(seeds)) for batch in counted(batches, "Training", each=0.1 * seeds)}


def convergence_table(reached: Mapping[int, Reached]) -> Table:
    """The results of ``convergence``, a row for each batch."""
    head = ("examples a batch", "best rate", "steps", "examples seen")
    rows = [[f"{batch}", f"{r.rate:g}", f"{r.steps:.0f}", f"{r.examples:,.0f}"] for batch, r in reached.items()]
    return Table(f"Until {100 - WRONG:g} % of the test digits are right", head, rows)


def convergence_chart(reached: Mapping[int, Reached]) -> Chart:
    """The same as two curves, both in times those of the smallest batch."""
    first, last = min(reached), max(reached)
    lines = {
        "examples seen": {float(batch): r.examples / reached[first].examples for batch, r in reached.items()},
        "steps": {float(batch): r.steps / reached[first].steps for batch, r in reached.items()},
        "steps, if K times the batch took 1/K": {float(batch): first / batch for batch in reached},
    }
    head = f"Until {100 - WRONG:g} % of the test digits are right"
    spoken = {"steps": float(last), "examples seen": float(last)}
    return curves(lines, "examples a batch", f"times those of batch {first}", head, log="xy", spoken=spoken)


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


def _fastest(batch: int, seeds: Sequence[int]) -> Reached:
    took = torch.full((len(RATES), len(seeds)), math.inf)  # steps, by rate and model
    constant = [lambda t, rate=rate: rate for rate in RATES]
    for t, errors in enumerate(_errors(batch, constant, seeds, PATIENCE // batch), start=1):
        took[(errors <= WRONG) & took.isinf()] = t
        least = took.clamp(max=t + 1).mean(1)  # one that is not there yet needs at least one more step
        if took.mean(1).min() <= least.min():
            break
    steps, best = took.mean(1).min(0)
    if steps.isinf():
        raise UsageError(f"With a batch of {batch}, no learning rate gets there.", "Take one of at least 8.")
    return Reached(RATES[int(best)], steps.item(), batch * steps.item())


def _errors(
    batch: int, schedules: Sequence[Schedule], seeds: Sequence[int], steps: int, every: int = 1
) -> Iterator[Tensor]:
    """The test errors in percent, by schedule and seed, after each of ``steps`` steps of SGD, or each ``every``-th.

    The models need nothing of each other, but step together: one product of stacked matrices takes far less time than
    many small ones."""
    (x, y), (x_test, y_test) = _pixels()
    begun = zip(*(models.mlp([64, 64, 10], seed).parameters() for seed in seeds), strict=True)
    parameters = [torch.stack([torch.stack(alike)] * len(schedules)).detach().requires_grad_() for alike in begun]
    batches = zip(*(_batches(len(x), batch, seed) for seed in seeds), strict=True)
    for t, chosen in enumerate(islice(batches, steps), start=1):
        at = torch.stack(chosen)  # (seeds, batch)
        wanted = y[at].expand(len(schedules), -1, -1)
        loss = F.cross_entropy(_scores(parameters, x[at]).flatten(0, 2), wanted.flatten(), reduction="sum") / batch
        gradients = torch.autograd.grad(loss, parameters)
        rates = torch.tensor([schedule(t) for schedule in schedules])
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p.sub_(rates.view(-1, *[1] * (p.ndim - 1)) * g)
            if t % every == 0:
                yield 100 * (_scores(parameters, x_test).argmax(-1) != y_test).double().mean(-1)


def _scores(parameters: Sequence[Tensor], x: Tensor) -> Tensor:
    """Of x (n, 64), or of (seeds, n, 64), in each of the models: (schedules, seeds, n, 10)."""
    into, at_hidden, out, at_scores = parameters
    hidden = torch.relu(x @ into.mT + at_hidden.unsqueeze(-2))
    return hidden @ out.mT + at_scores.unsqueeze(-2)


def _batches(examples: int, batch: int, seed: int) -> Iterator[Tensor]:
    """The numbers of the examples of one minibatch after the other, without end; shuffled anew in each epoch."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield from torch.split(torch.randperm(examples, generator=generator)[: examples // batch * batch], batch)
