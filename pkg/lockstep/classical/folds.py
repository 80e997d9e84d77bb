"""A splitter that draws new folds at every call, as ``KFold(shuffle=True)`` does, only predictably and of unequal
sizes. It notices when folds that have all been taken are asked for again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

Fold = tuple[np.ndarray, np.ndarray]  # rows to fit to, rows to score on


class Folds:
    """A fold for each of ``sizes``; the first call of ``split`` gives those of ``seed``, the next one others."""

    def __init__(self, sizes: Sequence[int], seed: int) -> None:
        self.sizes, self.seed, self.calls = sizes, seed, 0
        self.used_up = False

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return len(self.sizes)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Fold]:
        rows = np.random.default_rng([self.seed, self.calls]).permutation(sum(self.sizes))
        self.calls += 1
        parts = np.split(rows, np.cumsum(self.sizes)[:-1])
        return Once(self, [(np.setdiff1d(rows, part), np.sort(part)) for part in parts])


class Once:
    """Folds one after the other, once, as the generator that scikit-learn gives."""

    def __init__(self, splitter: Folds, folds: list[Fold]) -> None:
        self._splitter, self._left, self._ended = splitter, iter(folds), False

    def __iter__(self) -> Once:
        self._splitter.used_up |= self._ended
        return self

    def __next__(self) -> Fold:
        try:
            return next(self._left)
        except StopIteration:
            self._ended = True
            raise
