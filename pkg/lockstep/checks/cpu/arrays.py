"""Inputs of the kernels: whole numbers, so that every order of additions gives the same sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from lockstep.checks.case import Case

Array = np.ndarray[Any, np.dtype[Any]]


def one_case(told: str) -> Any:
    """A ``cases`` function: one case, said in the learner's words."""
    return lambda ranks, seed: [Case(1, seed, settings={"told": told})]


def whole_numbers(case: Case, number: int, *shape: int, dtype: str = "float32", most: int = 8) -> Array:
    """Numbers from -most to most, the ``number``-th array of the case."""
    draw = np.random.default_rng([case.seed % 2**32, number])
    return draw.integers(-most, most + 1, shape).astype(dtype)
