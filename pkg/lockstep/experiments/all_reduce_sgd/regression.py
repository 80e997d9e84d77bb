"""Linear regression: the gradient that can be written down, and a learning rate that stays a dyadic number."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


def mean_gradient(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Of half the squared error of ``x @ w``, the mean over the examples: like ``w``. ``x`` has a row for each."""
    return x.T @ (x @ w - y) / len(x)


@dataclass(frozen=True)
class Halved:
    """A learning rate schedule: ``first`` in step 1, and half of the previous one in each further step."""

    first: float

    def __call__(self, t: int) -> float:
        return self.first * 0.5 ** (t - 1)
