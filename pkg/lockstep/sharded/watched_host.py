"""A host that keeps Adam's state and sees how much of it is on the device at a time: for the check of ``offload``."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lockstep.sharded.held import held_beside

Array = np.ndarray[Any, np.dtype[np.float32]]


class WatchedHost:
    """``states``: m and v of each layer, as NumPy arrays. ``calls``: "load" or "store" with the layer. ``most``: layers
    whose state was on the device at once, as far as it was loaded or stored here."""

    def __init__(self, numels: Sequence[int]) -> None:
        self.states: list[tuple[Array, Array]] = [(np.zeros(n, np.float32), np.zeros(n, np.float32)) for n in numels]
        self.calls: list[tuple[str, int]] = []
        self.most = 0
        self._passed: list[tuple[int, weakref.ref[torch.UntypedStorage]]] = []

    def load(self, layer: int) -> tuple[Tensor, Tensor]:
        m, v = (torch.from_numpy(state).clone() for state in self.states[layer])
        self._pass("load", layer, m, v)
        return m, v

    def store(self, layer: int, m: Tensor, v: Tensor) -> None:
        for name, tensor in (("m", m), ("v", v)):
            if not isinstance(tensor, Tensor) or tensor.shape != self.states[layer][0].shape:
                n = len(self.states[layer][0])
                raise ValueError(f"{name} of layer {layer} is a tensor of {n} numbers, and this is {tensor!r:.60}")
        self._pass("store", layer, m, v)
        first, second = (tensor.detach().cpu().numpy().astype(np.float32) for tensor in (m, v))
        self.states[layer] = first.copy(), second.copy()

    def on_device(self) -> int:
        """Layers of which something that was loaded or stored is alive."""
        return len({layer for layer, storage in self._passed if storage() is not None})

    def _pass(self, what: str, layer: int, *state: Tensor) -> None:
        self.calls.append((what, layer))
        self._passed += [(layer, weakref.ref(tensor.untyped_storage())) for tensor in state]
        self.most = max(self.most, self.on_device())


def observed(
    fn: Callable[..., Any], parameters: Sequence[Tensor], gradients: Sequence[Sequence[Tensor]], rate: float
) -> dict[str, Any]:
    """Facts of a step of ``fn`` for each entry of ``gradients``: what it leaves, and what it holds."""
    own = [w.clone() for w in parameters]
    host, held = WatchedHost([len(w) for w in own]), 0
    facts: dict[str, Any] = {"after": [], "state": [], "calls": [], "left": 0, "gradients": True, "returned": False}
    for step, given in enumerate(gradients, start=1):
        mine = [g.clone() for g in given]
        result, most = held_beside(fn, (own, mine, host, step, rate))
        held, host.calls, calls = max(held, most), [], host.calls
        facts["left"] = max(facts["left"], host.on_device())
        facts["returned"] |= result is not None
        facts["gradients"] &= all(map(torch.equal, mine, given))
        facts["calls"].append([f"{what} {layer}" for what, layer in calls])
        facts["after"].append([w.detach().clone() for w in own])
        facts["state"].append([[torch.from_numpy(array.copy()) for array in state] for state in host.states])
    return facts | {"held": held, "most": host.most, "largest": max(w.nbytes for w in own)}
