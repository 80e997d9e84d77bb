"""Inputs of the kernels: numbers that need their dtype, and whose sum is the same in every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep.checks.case import Case

Array = np.ndarray[Any, np.dtype[Any]]


def one_case(told: str) -> Callable[[int, int], list[Case]]:
    """A ``cases`` function: one case, said in the learner's words."""
    return lambda ranks, seed: [Case(1, seed, settings={"told": told})]


def quarters(case: Case, number: int, *shape: int, most: int = 15) -> Array:
    """float32 from -most to most, in quarters: the ``number``-th array of the case."""
    return (_draw(case, number).integers(-4 * most, 4 * most + 1, shape) / 4).astype("float32")


def wide(case: Case, number: int, *shape: int) -> Array:
    """Quarters, and a few units of 2**30: float64 has them, and float32 rounds them. None is below 0, so that the error
    of a sum in float32 is small relative to the sum."""
    return _draw(case, -number - 1).integers(1, 8, shape) * 2.0**30 + quarters(case, number, *shape)


def _draw(case: Case, number: int) -> np.random.Generator:
    return np.random.default_rng([case.seed % 2**32, number % 2**32])
