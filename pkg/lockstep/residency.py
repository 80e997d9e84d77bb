"""How many bytes of tensors are alive: the peak memory of a rank, in any world.

Counted by storage, not by tensor: a view costs nothing, and a storage counts until the last tensor on it is gone.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.utils._pytree import tree_iter


class Residency:
    """``now`` and ``peak``: bytes of tensor storage, as far as this book was told of it."""

    def __init__(self) -> None:
        self.now = 0
        self.peak = 0
        self._known: dict[int, weakref.ref[Any]] = {}

    def adopt(self, tree: Any) -> None:
        """Book the tensors that a rank starts with: arguments, and the parameters of modules among them."""
        for leaf in tree_iter(tree):
            if isinstance(leaf, torch.nn.Module):
                self.note([*leaf.parameters(), *leaf.buffers()])
        self.note(tree)

    def note(self, tree: Any) -> None:
        """Book the tensors that an operation has returned."""
        if isinstance(tree, torch.Tensor):
            self._book(tree)
            return
        for leaf in tree_iter(tree):
            if isinstance(leaf, torch.Tensor):
                self._book(leaf)

    def _book(self, tensor: torch.Tensor) -> None:
        try:
            storage = tensor.untyped_storage()
        except NotImplementedError:  # sparse tensors have none
            return
        key = storage._cdata
        if key in self._known:
            return
        size = storage.nbytes()
        self._known[key] = weakref.ref(storage, lambda _: self._gone(key, size))
        self.now += size
        self.peak = max(self.peak, self.now)

    def _gone(self, key: int, size: int) -> None:
        if self._known.pop(key, None) is not None:
            self.now -= size
