"""Do K ranks compute what one rank computes? Each training is run both ways, and the results are compared.

    equality()            rows: method x model x batch size x K, and the largest relative difference of the parameters
    bits()                rows: step after step on dyadic data, while float64 holds every number exactly, and after

In real numbers the mean over the ranks *is* the mean over the batch. Floats are added in another order, and so rounded
differently: where all numbers are short dyadic fractions nothing is rounded, and the bits are the same. Batch norm is
the exception: on parts of a batch it is a different function from that on the whole, until ranks share its statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.data_parallel.batch_norm import synchronised
from lockstep.data_parallel.sgd import average_gradients, training_step
from lockstep.datasets import dyadic
from lockstep.experiments.all_reduce_sgd.regression import mean_gradient
from lockstep.models import batch_normed, mlp, tied
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import run

RANKS = (1, 2, 3, 4, 8)
LAST_BITS = 1e-14  # a smaller difference is one of rounding
WIDTH = 4
FLOAT64_BITS = 53

Optimizer = Callable[[Sequence[Tensor]], torch.optim.Optimizer]
METHODS: dict[str, Optimizer] = {
    "SGD": lambda w: torch.optim.SGD(w, lr=1 / 4),
    "momentum": lambda w: torch.optim.SGD(w, lr=1 / 4, momentum=1 / 2),
    "Adam": lambda w: torch.optim.Adam(w, lr=1 / 64),
}
MODELS: dict[str, Callable[[], nn.Module]] = {
    "MLP": lambda: mlp([WIDTH, 8, WIDTH], dtype=torch.float64),
    "tied weights": lambda: tied(WIDTH, dtype=torch.float64),
    "batch norm": lambda: batch_normed([WIDTH, 8, WIDTH], dtype=torch.float64),
}
SYNC = "batch norm, synchronised"


class Training(NamedTuple):
    """A training: its method, its model and the size of its batch."""

    method: str
    model: str
    batch: int  # examples of all ranks together


class Equality(NamedTuple):
    """How far the parameters of a training on ``ranks`` ranks are from those of one."""

    training: Training
    ranks: int
    difference: float  # relative to the largest parameter; 0.0 if all bits are the same


TRAININGS = (
    *(Training(method, model, batch) for method in METHODS for model in ("MLP", "tied weights") for batch in (16, 13)),
    Training("SGD", "batch norm", 32),
    Training("SGD", SYNC, 32),
    Training("SGD", SYNC, 13),
)


def equality(trainings: Sequence[Training] = TRAININGS, ranks: Sequence[int] = RANKS, steps: int = 2) -> list[Equality]:
    """Each training on each number of ranks. A batch that K does not divide is dealt out in shares that differ by one
    example."""
    alone = [_trained_alone(training, steps) for training in trainings]
    found = []
    for K in counted(ranks, "Running"):
        [together, *others] = run(_trained, list(trainings), steps, ranks=K, on="dgx-a100").values
        assert all(torch.equal(a, b) for other in others for a, b in zip(together, other, strict=True))
        rows = zip(trainings, together, alone, strict=True)
        found += [Equality(training, K, _difference(a, b)) for training, a, b in rows]
    return sorted(found, key=lambda row: trainings.index(row.training))


def equality_table() -> Table:
    """`equality` as it is printed: a row for each training, a column for each number of ranks."""
    by_training = groupby(equality(), key=lambda row: row.training)
    found = {t: [row.difference for row in rows] for t, rows in by_training}
    alike = [t for t, differences in found.items() if max(differences) < LAST_BITS]
    most = [max(found[t][k] for t in alike) for k in range(len(RANKS))]
    rows = [[f"{len(alike)} trainings", "the others", "", *(f"≤ {_told(d)}" if d else _told(d) for d in most)]]
    rows += [_row(t, differences) for t, differences in found.items() if t not in alike]
    behind = [_row(t, found[t]) for t in alike]
    head = ["method", "model", "batch", *(f"K = {K}" for K in RANKS)]
    return Table("Parameters after two steps on K ranks: largest relative difference from one rank", head, rows, behind)


def _row(training: Training, differences: Sequence[float]) -> list[str]:
    return [training.method, training.model, f"{training.batch}", *map(_told, differences)]


def _told(difference: float) -> str:
    return f"{difference:.0e}" if difference else "to the bit"


def _difference(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max() / b.abs().max())


def _batches(batch: int, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    drawn = torch.Generator().manual_seed(batch)
    for _ in range(steps):
        x = torch.randn(batch, WIDTH, generator=drawn, dtype=torch.float64)
        yield x, x.flip(1) * x.sum(1, keepdim=True)


def _trained_alone(training: Training, steps: int) -> Tensor:
    """All parameters in one vector, of a training as one writes it without any ranks."""
    model = MODELS["batch norm" if training.model == SYNC else training.model]()
    optimizer = METHODS[training.method](list(model.parameters()))
    for x, y in _batches(training.batch, steps):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def _trained(trainings: Sequence[Training], steps: int) -> list[Tensor]:
    """The same on this rank, which has its share of each batch."""
    r, K = dist.get_rank(), dist.get_world_size()
    found = []
    for training in trainings:
        model = MODELS["batch norm" if training.model == SYNC else training.model]()
        if training.model == SYNC:
            model = synchronised(model)  # type: ignore[arg-type]
        optimizer = METHODS[training.method](list(model.parameters()))
        for x, y in _batches(training.batch, steps):
            training_step(model, optimizer, F.mse_loss, x.tensor_split(K)[r], y.tensor_split(K)[r])
        found.append(nn.utils.parameters_to_vector(model.parameters()).detach())
    return found


# ---- to the bit, step after step


class Bits(NamedTuple):
    """After ``step`` steps: the bits of the longest exact weight, and how far K ranks are from one."""

    step: int
    needed: int
    difference: float


def bits(steps: int = 10, ranks: int = 4, method: str = "SGD", examples: int = 64) -> list[Bits]:
    """Linear regression on dyadic data, ``examples`` a step: the ranks, a power of two, divide them. ``needed`` counts
    those of SGD without rounding; float64 has 53."""
    together = run(_weights, method, steps, examples, ranks=ranks, on="dgx-a100").values[0]
    alone, exact = _weights_alone(method, steps, examples), _needed(steps, examples)
    rows = zip(exact, together, alone, strict=True)
    return [Bits(step, needed, _difference(a, b)) for step, (needed, a, b) in enumerate(rows, start=1)]


def bits_table(steps: int = 10, ranks: int = 4) -> Table:
    """`bits` of SGD as it is printed."""
    rows = [[f"{b.step}", f"{b.needed}", _told(b.difference)] for b in bits(steps, ranks)]
    head = ["step", "bits that the exact weights need", f"{ranks} ranks and one"]
    return Table(f"SGD on dyadic data: float64 holds {FLOAT64_BITS} bits", head, rows)


def first_step_apart(ranks: int = 4, steps: int = 20, method: str = "SGD") -> int:
    """The first step after which the weights of ``ranks`` ranks and of one are not the same bits; 0 if all are."""
    return next((row.step for row in bits(steps, ranks, method) if row.difference), 0)


def _dyadic_batches(steps: int, examples: int) -> list[tuple[Tensor, Tensor]]:
    x, y = dyadic(steps * examples, WIDTH)
    return list(zip(torch.split(x, examples), torch.split(y, examples), strict=True))


def _weights(method: str, steps: int, examples: int) -> list[Tensor]:
    """The weights after each step, on this rank."""
    r, K = dist.get_rank(), dist.get_world_size()
    w = nn.Parameter(torch.zeros(WIDTH, dtype=torch.float64))
    optimizer, found = METHODS[method]([w]), []
    for x, y in _dyadic_batches(steps, examples):
        w.grad = mean_gradient(w.detach(), x.tensor_split(K)[r], y.tensor_split(K)[r])
        average_gradients([w], len(x.tensor_split(K)[r]))
        optimizer.step()
        found.append(w.detach().clone())
    return found


def _weights_alone(method: str, steps: int, examples: int) -> list[Tensor]:
    w = nn.Parameter(torch.zeros(WIDTH, dtype=torch.float64))
    optimizer, found = METHODS[method]([w]), []
    for x, y in _dyadic_batches(steps, examples):
        w.grad = mean_gradient(w.detach(), x, y)
        optimizer.step()
        found.append(w.detach().clone())
    return found


def _needed(steps: int, examples: int) -> Iterator[int]:
    """The bits of the mantissa that the longest weight has after each step of SGD without rounding."""
    w = [Fraction(0)] * WIDTH
    for x, y in _dyadic_batches(steps, examples):
        rows = [[Fraction(v) for v in row] for row in x.tolist()]
        off = [
            sum(a * b for a, b in zip(row, w, strict=True)) - Fraction(v)
            for row, v in zip(rows, y.tolist(), strict=True)
        ]
        for i in range(WIDTH):
            w[i] -= Fraction(1, 4) * sum(e * row[i] for e, row in zip(off, rows, strict=True)) / examples
        yield max(_length(v.numerator) for v in w)


def _length(number: int) -> int:
    """Its binary digits without the zeros at the end."""
    return (abs(number) // (abs(number) & -abs(number) or 1)).bit_length()
