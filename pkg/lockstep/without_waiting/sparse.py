"""Sparse examples for logistic regression, drawn from a seed: which coordinates of w each of them uses, and how.

How many examples use the same coordinate decides what HOGWILD! is worth. Three kinds: ``uniform``, where all
coordinates are used alike; ``skewed``, where a few are used by most examples, as words are in texts; ``dense``, where
each example uses all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXAMPLES, COORDINATES, USED = 10_000, 100_000, 20  # of the data sets of this unit; USED: of an example, at most
DENSE = 32  # coordinates, where every example uses all


@dataclass(frozen=True)
class Examples:
    """Example i uses ``coordinates[begins[i]:begins[i + 1]]``, no coordinate twice, with the ``values`` that stand
    there (compressed sparse rows). ``labels``: 0.0 or 1.0 for each. ``size``: the length of w."""

    begins: Ints
    coordinates: Ints
    values: Floats
    labels: Floats
    size: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats, Floats]:
        """What a compiled kernel takes."""
        return self.begins, self.coordinates, self.values, self.labels


def uniform(examples: int = EXAMPLES, size: int = COORDINATES, used: int = USED, seed: int = 0) -> Examples:
    """Each example uses ``used`` coordinates, or a few less: they are drawn alike, and one that comes twice counts
    once."""
    return _drawn(np.random.default_rng(seed).integers(0, size, (examples, used)), size, seed)


def skewed(examples: int = EXAMPLES, size: int = COORDINATES, used: int = USED, seed: int = 0) -> Examples:
    """Coordinate v is drawn about in proportion to 1/(v + 1) (Zipf's law): most examples use the first few, and most
    coordinates are rare."""
    drawn = (size + 1) ** np.random.default_rng(seed).random((examples, used)) - 1
    return _drawn(np.minimum(drawn.astype(np.int64), size - 1), size, seed)


def dense(examples: int = EXAMPLES, size: int = DENSE, seed: int = 0) -> Examples:
    """Each example uses each coordinate."""
    return _drawn(np.tile(np.arange(size), (examples, 1)), size, seed)


@cache
def data_sets(examples: int = EXAMPLES, seed: int = 0) -> Mapping[str, Examples]:
    """All three, by name: the same each time."""
    return {kind.__name__: kind(examples, seed=seed) for kind in (uniform, skewed, dense)}


def _drawn(drawn: Ints, size: int, seed: int) -> Examples:
    """Values and labels for these coordinates, (examples, used). Labels are drawn by a logistic model, so no w can be
    right about all of them."""
    dice = np.random.default_rng([seed, 1])
    places = np.unique(np.arange(len(drawn))[:, None] * size + drawn)  # sorted by example, none twice
    owner, coordinates = np.divmod(places, size)
    begins = np.searchsorted(owner, np.arange(len(drawn) + 1))
    values = dice.standard_normal(len(places)) / np.sqrt(drawn.shape[1])
    scores = np.add.reduceat(values * (4 * dice.standard_normal(size))[coordinates], begins[:-1])
    labels = (dice.random(len(drawn)) < 1 / (1 + np.exp(-scores))).astype(np.float64)
    return Examples(begins, coordinates, values, labels, size)
