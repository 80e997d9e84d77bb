"""A splitter that draws new folds at every call, as ``KFold(shuffle=True)`` does, only predictably."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class Folds:
    """``n_splits`` folds; the first call of ``split`` gives those of ``seed``, the next one others."""

    def __init__(self, n_splits: int, seed: int) -> None:
        self.n_splits, self.seed, self.calls = n_splits, seed, 0

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        rows = np.random.default_rng([self.seed, self.calls]).permutation(len(X))
        self.calls += 1
        return iter([(np.setdiff1d(rows, part), np.sort(part)) for part in np.array_split(rows, self.n_splits)])
