"""Whether tensors that a collective writes to share memory: ``[x] * 4`` instead of four tensors, or views that overlap.

The columns of a matrix lie between each other in memory, and share no element. numpy's solver tells the two cases apart
by shapes and strides alone (``shares_memory``), so that no data is needed, and none is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import torch

BASE = 2**20  # an address, since numpy takes zero for none; a storage with no data has no address of its own


class Extent:
    """The bytes of a tensor within its storage, as an array that numpy may compare but not read."""

    def __init__(self, tensor: torch.Tensor) -> None:
        size = tensor.element_size()
        self.begin = size * tensor.storage_offset()
        self.end = self.begin + size * (
            1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
        )
        self._strided = tuple(tensor.shape), tuple(size * s for s in tensor.stride())
        self._kind = f"|V{size}"

    def overlaps(self, other: Extent) -> bool:
        if self._strided == other._strided and self.begin == other.begin:
            return True
        apart = self.end <= other.begin or other.end <= self.begin
        return not apart and numpy.shares_memory(numpy.asarray(self), numpy.asarray(other))

    @property
    def __array_interface__(self) -> dict[str, Any]:
        shape, strides = self._strided
        data = BASE + self.begin, True
        return {"version": 3, "typestr": self._kind, "data": data, "shape": shape, "strides": strides}


def sharing(tensors: Sequence[torch.Tensor]) -> tuple[int, int] | None:
    """The places of two tensors that share an element, or None. Of those in one storage each is compared with the one
    before it that reaches furthest."""
    storages = [t.untyped_storage()._cdata if t.layout is torch.strided else id(t) for t in tensors]
    if len(set(storages)) == len(storages):
        return None
    of_storage: dict[int, list[tuple[int, Extent]]] = {}
    for place, (storage, tensor) in enumerate(zip(storages, tensors, strict=True)):
        if tensor.layout is torch.strided and tensor.numel():
            of_storage.setdefault(storage, []).append((place, Extent(tensor)))
    return next(filter(None, map(first_pair, of_storage.values())), None)


def first_pair(extents: list[tuple[int, Extent]]) -> tuple[int, int] | None:
    """The places of two that overlap. ``extents``: of one storage, each with its place."""
    (furthest, before), *rest = sorted(extents, key=lambda placed: placed[1].begin)
    for place, extent in rest:
        if extent.overlaps(before):
            return min(furthest, place), max(furthest, place)
        if extent.end > before.end:
            furthest, before = place, extent
    return None
