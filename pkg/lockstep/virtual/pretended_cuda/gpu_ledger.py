"""Which of a rank's storages are on its GPU, when all of them lie in the host's memory.

A program says it of some tensors: ``x.to("cuda")``, ``torch.zeros(3)``. Of the others it follows: what is computed from
a tensor on the GPU is there, and so is a storage of which nothing was said (a bucket of DDP, say) once such a tensor is
written into it. What follows is seen below autograd, where gradients are computed, too.
"""

from __future__ import annotations

from typing import Any

import torch

from lockstep.residency.live_storages import Residency, Storage
from lockstep.residency.memory_timeline import OTHER
from lockstep.residency.nested_tensors import tensors_of, wrapped


class GpuLedger(Residency):
    """The memory account of a rank with a GPU. ``on_gpu``: bytes that are there now; ``most_on_gpu``: at most, since
    ``forget_peak``."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._where: dict[int, bool] = {}  # by the number of a storage: on the GPU, or said to be on the host
        self.on_gpu = self.most_on_gpu = 0

    def has(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is on the GPU."""
        known = self._known(tensor)
        return known is not None and self._where.get(known.number, False)

    def put(self, tensor: torch.Tensor, on_gpu: bool) -> None:
        """The program says where a tensor is."""
        self._book(tensor, OTHER)
        for part in wrapped(tensor) or [tensor]:
            if known := self._known(part):
                self._say(known, on_gpu)

    def forget_peak(self) -> None:
        self.most_on_gpu = self.on_gpu

    def see(self, func: Any, args: Any, out: Any) -> None:
        given = tensors_of(args)
        from_gpu = any(map(self.has, given))
        fresh = [tensor for tensor in tensors_of((out,)) if self._known(tensor) is None] if from_gpu else []
        super().see(func, args, out)
        if from_gpu and func._schema.is_mutable:
            fresh += [given[0]]
        for tensor in fresh:
            known = self._known(tensor)
            if known is not None and known.number not in self._where:
                self._say(known, True)

    def _known(self, tensor: torch.Tensor) -> Storage | None:
        """The entry of a tensor's storage, of a wrapper's first one; None where it has none."""
        if inside := wrapped(tensor):
            tensor = inside[0]
        try:
            return self._alive.get(tensor.untyped_storage()._cdata)
        except NotImplementedError:  # sparse tensors have none
            return None

    def _say(self, known: Storage, on_gpu: bool) -> None:
        if on_gpu != self._where.get(known.number, False):
            self._grow(known.nbytes if on_gpu else -known.nbytes)
        self._where[known.number] = on_gpu

    def _grow(self, nbytes: int) -> None:
        self.on_gpu += nbytes
        self.most_on_gpu = max(self.most_on_gpu, self.on_gpu)

    def _resize(self, known: Storage, nbytes: int) -> None:
        if self._where.get(known.number):
            self._grow(nbytes - known.nbytes)
        super()._resize(known, nbytes)

    def _gone(self, known: Storage) -> None:
        if self._where.pop(known.number, False):
            self._grow(-known.nbytes)
        super()._gone(known)
