"""A splitter that draws new folds at every call, as ``KFold(shuffle=True)`` does, only predictably and of unequal
sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


class Folds:
    """A fold for each of ``sizes``; the first call of ``split`` gives those of ``seed``, the next one others."""

    def __init__(self, sizes: Sequence[int], seed: int) -> None:
        self.sizes, self.seed, self.calls = sizes, seed, 0

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return len(self.sizes)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The rows to fit to and those to score on, one fold after the other, once: a generator, as scikit-learn's."""
        rows = np.random.default_rng([self.seed, self.calls]).permutation(sum(self.sizes))
        self.calls += 1
        parts = np.split(rows, np.cumsum(self.sizes)[:-1])
        return ((np.setdiff1d(rows, part), np.sort(part)) for part in parts)
