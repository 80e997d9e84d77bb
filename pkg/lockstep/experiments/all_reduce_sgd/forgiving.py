"""Fault tolerance of training: lost and late updates in SGD, compared with lost steps in a sorting algorithm.

A sorting algorithm is a fixed sequence of steps, each of which relies on those before. A training *converges*: it
repeats a step that leads nearer to one state, wherever it begins. Here both lose steps, and the same is measured: the
distance from the result to the right one, as a share of the distance at the start.

In A_t = F(A_{t-1}, Δ(data, A_{t-1})) the training is that of a linear model on 1,000 examples, divided among 4 workers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from functools import cache

import torch

from lockstep.tables import Table

EXAMPLES, WORKERS, STEPS = 1000, 4, 60


@cache
def examples() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """X, y, and the state with the least squared error."""
    numbers = torch.Generator().manual_seed(0)
    truth = torch.randn(10, dtype=torch.float64, generator=numbers)
    X = torch.randn(EXAMPLES, 10, dtype=torch.float64, generator=numbers)
    y = X @ truth + 0.1 * torch.randn(EXAMPLES, dtype=torch.float64, generator=numbers)
    return X, y, torch.linalg.lstsq(X, y).solution


def delta(X: torch.Tensor, y: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
    """Δ: the update that these examples ask for, the negative gradient of their squared errors."""
    return -X.T @ (X @ A - y)


def F(A: torch.Tensor, updates: Iterable[torch.Tensor]) -> torch.Tensor:
    """The state after all workers' updates are brought in."""
    return A + 3e-4 * sum(updates, torch.zeros_like(A))


def apart() -> float:
    """How far the sum of four workers' updates is from the update of all data: rounding."""
    X, y, _ = examples()
    A = torch.zeros(10, dtype=torch.float64)
    of_workers = sum(delta(X[w::WORKERS], y[w::WORKERS], A) for w in range(WORKERS))
    return float((delta(X, y, A) - of_workers).abs().max() / delta(X, y, A).abs().max())


def left_of_training(lost: float = 0.0, late: int = 0) -> float:
    """After some steps of four workers whose updates get lost so often, or come so many steps late."""
    X, y, best = examples()
    draw, history = random.Random(0), [torch.zeros(10, dtype=torch.float64)]
    for _ in range(STEPS):
        known = history[max(0, len(history) - 1 - late)]
        updates = [delta(X[w::WORKERS], y[w::WORKERS], known) for w in range(WORKERS) if draw.random() >= lost]
        history.append(F(history[-1], updates))
    return math.dist(history[-1], best) / math.dist(history[0], best)


def left_of_sorting(lost: float) -> float:
    """After bubble sort of 200 numbers, of whose exchanges so many are forgotten."""
    shuffled = random.Random(1).sample(range(200), 200)
    return math.dist(_bubble_sort(shuffled, lost), range(200)) / math.dist(shuffled, range(200))


def lost_table() -> Table:
    """Both, with nothing lost, 1 % and 10 %."""
    rows = [[f"{lost:.0%}", f"{left_of_sorting(lost):.2%}", f"{left_of_training(lost):.2%}"] for lost in (0, 0.01, 0.1)]
    return Table("What is left of the way to the right result", ["lost", "sorting", "training"], rows)


def _bubble_sort(values: Sequence[int], lost: float) -> list[int]:
    values, draw = list(values), random.Random(0)
    for end in range(len(values) - 1, 0, -1):
        for i in range(end):
            if values[i] > values[i + 1] and draw.random() >= lost:
                values[i], values[i + 1] = values[i + 1], values[i]
    return values
