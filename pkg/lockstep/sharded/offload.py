"""Offloading: what a device needs seldom is kept in the memory of its host, which is larger, cheaper and far away.

    M   parameters that this rank updates, float32: w; g their gradients, m and v Adam's two averages (4M bytes each)

                       device            link to the host (PCIe)        host
    on the device      w  g  m v                                        -
    the state comes    w  g  m v         m v up, m v down: 16M a step   m v
      (of one layer)
    Adam on the host   w  g              g down, w up:      8M a step   w m v    updates w there

Where the state comes, the device does all arithmetic. ZeRO-Offload gives the update to the host's processor, of all of
the step what computes least for a number; no cut through a step moves less (its section 3.2: in mixed precision, where
g and w travel in 2 bytes, 4M). Where ZeRO divides the state too, M = Ψ/K.

On a GPU the host's memory is pinned (the device can copy from it directly). Where the device is the processor itself,
the device's memory is what torch holds, and the host's is NumPy arrays.

Source: Ren et al., ZeRO-Offload: Democratizing Billion-Scale Model Training, arXiv:2101.06840, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lockstep.models import mlp
from lockstep.tables import Table
from lockstep.worlds import run

Optimizer = Callable[[Sequence[Tensor]], torch.optim.Optimizer]


class Kept(NamedTuple):
    """A tensor in the host's memory."""

    data: NDArray[np.uint8]  # its bytes
    dtype: torch.dtype
    shape: torch.Size
    device: torch.device  # where it goes back to


class Host:
    """Tensors in the host's memory by name. ``down`` and ``up``: bytes that have come from the device, gone to it."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}
        self.down = self.up = 0

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def put(self, name: str, tensor: Tensor) -> None:
        """Copy ``tensor`` to the host, over what has this name there."""
        flat = tensor.detach().reshape(-1).view(torch.uint8)
        if flat.is_cuda:
            data = torch.empty(len(flat), dtype=torch.uint8, pin_memory=True).copy_(flat).numpy()
        else:
            data = flat.numpy().copy()
        self._kept[name] = Kept(data, tensor.dtype, tensor.shape, tensor.device)
        self.down += len(data)

    def get(self, name: str) -> Tensor:
        """A new tensor on the device that it came from."""
        kept = self._kept[name]
        self.up += len(kept.data)
        return torch.from_numpy(kept.data).to(kept.device, copy=True).view(kept.dtype).view(kept.shape)

    def numbers(self, name: str) -> NDArray[np.float32]:
        """What is kept, for the host to compute with in place: float32, without copying."""
        return self._kept[name].data.view(np.float32)


class OffloadedOptimizer:
    """``optimizer([p])`` for each p of ``parameters``: its state is on the device while p is updated, one after the
    other, and on the host otherwise."""

    def __init__(self, optimizer: Optimizer, parameters: Sequence[Tensor], host: Host) -> None:
        self.host, self.optimizers = host, [optimizer([p]) for p in parameters]
        self._names: list[list[Any]] = [[] for _ in self.optimizers]  # of what is on the host

    def step(self) -> None:
        for i, optimizer in enumerate(self.optimizers):
            (p,) = optimizer.param_groups[0]["params"]
            optimizer.state[p].update({name: self.host.get(f"{i}/{name}") for name in self._names[i]})
            optimizer.step()
            self._names[i] = [name for name, value in optimizer.state[p].items() if isinstance(value, Tensor)]
            for name in self._names[i]:
                self.host.put(f"{i}/{name}", optimizer.state[p].pop(name))


class AdamOnHost:
    """ZeRO-Offload's Adam: the host has the parameters as well (the master copy), is given gradients, and gives back
    parameters."""

    def __init__(
        self,
        parameters: Sequence[Tensor],
        host: Host,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        self.parameters, self.host = list(parameters), host
        self.lr, self.betas, self.eps, self.t = lr, betas, eps, 0
        for i, p in enumerate(self.parameters):
            host.put(f"{i}/w", p.float())
        self.m, self.v = ([np.zeros(p.numel(), np.float32) for p in self.parameters] for _ in "mv")

    @torch.no_grad()
    def step(self) -> None:
        self.t += 1
        for i, p in enumerate(self.parameters):
            if p.grad is not None:
                self.host.put(f"{i}/g", p.grad.float())
                self._update(self.host.numbers(f"{i}/w"), self.host.numbers(f"{i}/g"), self.m[i], self.v[i])
                p.copy_(self.host.get(f"{i}/w"))

    def _update(
        self, w: NDArray[np.float32], g: NDArray[np.float32], m: NDArray[np.float32], v: NDArray[np.float32]
    ) -> None:
        """Kingma and Ba, Adam, arXiv:1412.6980, Algorithm 1."""
        b1, b2 = self.betas
        m += (1 - b1) * (g - m)
        v += (1 - b2) * (g * g - v)
        corrected = np.sqrt(v / (1 - b2**self.t)) + self.eps
        w -= self.lr / (1 - b1**self.t) * m / corrected


# ---- the three of them in numbers

SIZES, STEPS = (64, 64, 64, 64), 3


def optimizers(parameters: Sequence[Tensor], host: Host) -> dict[str, Any]:
    """By where the state is."""
    return {
        "on the device": lambda: torch.optim.Adam(parameters),
        "the state comes": lambda: OffloadedOptimizer(torch.optim.Adam, parameters, host),
        "Adam on the host": lambda: AdamOnHost(parameters, host),
    }


def trained(name: str) -> tuple[Tensor, int, int]:
    """On a rank: the parameters after a few steps, and the bytes down and up in the last of them."""
    model, host = mlp(SIZES), Host()
    optimizer, before = optimizers(list(model.parameters()), host)[name](), (0, 0)
    x = torch.linspace(-1, 1, 8 * SIZES[0]).view(8, -1)
    for _ in range(STEPS):
        before = host.down, host.up
        model.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    after = torch.cat([p.detach().flatten() for p in model.parameters()])
    return after, host.down - before[0], host.up - before[1]


def offload_table() -> Table:
    """What is on the device at most, and what travels, in bytes for each parameter."""
    rows, first = [], None
    for name in optimizers([], Host()):
        result = run(trained, name, ranks=1, on="dgx-a100")
        w, down, up = result.values[0]
        first = w if first is None else first
        M, state = len(w), result.memory[0].peaks["optimizer state"]
        apart = (w - first).abs().max().item()
        rows.append([name, *(f"{x / M:.2f}" for x in (state, down, up)), f"{apart:.0e}" if apart else "the same bits"])
    head = ["Adam's state", "at most on the device", "down in a step", "up in a step", "parameters"]
    return Table(f"{len(SIZES) - 1} layers, float32: bytes for each of {M:,} parameters", head, rows)
