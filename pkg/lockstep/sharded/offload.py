"""Offloading: what a device rarely needs is kept in the memory of its host, which is larger, cheaper and far away.

    M   parameters that this rank updates, float32: w; g their gradients, m and v Adam's two averages (4M bytes each)

                       device            link to the host (PCIe)        host
    on the device      w  g  m v                                        -
    the state comes    w  g  m v         m v up, m v down: 16M a step   m v
      (of one layer)
    Adam on the host   w  g              g down, w up:      8M a step   w m v    updates w there

"The state comes" is ZeRO-Infinity's way: the device does all arithmetic, and only one layer's m and v are there at a
time:

    host    m0 v0   m1 v1   m2 v2           (1) load    (2) update m, v and the parameters    (3) store, and free
              │ ▲     │ ▲     │ ▲
    device    ▼ │     ▼ │     ▼ │

``offload`` does that with Adam written out; ``OffloadedOptimizer`` does it with any torch optimizer. "Adam on the host"
is ZeRO-Offload's way, ``AdamOnHost``: the host's processor computes the update, the part of a step with the least
arithmetic for each number. No cut through a step sends less (its section 3.2: in mixed precision, where g and w are
sent in 2 bytes, 4M). Where ZeRO shards the state too, M = Ψ/K.

On a GPU the host's memory is pinned (the device can copy from it directly). In the worlds without a GPU the device's
memory is torch's, and the host's is NumPy arrays.

Sources: Rajbhandari et al., ZeRO-Infinity, arXiv:2104.07857, section 5.2.2; Ren et al., ZeRO-Offload: Democratizing
Billion-Scale Model Training, arXiv:2101.06840, sections 3 and 4; Adam: Kingma and Ba, arXiv:1412.6980, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lockstep.models import mlp
from lockstep.tables import Table
from lockstep.worlds import run

Optimizer = Callable[[Sequence[Tensor]], torch.optim.Optimizer]

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


# ---- the state of one layer at a time, by hand


class StateHost(Protocol):
    """Where Adam's state is between two steps. ``load`` returns copies on the device, at first zeros."""

    def load(self, layer: int) -> tuple[Tensor, Tensor]: ...

    def store(self, layer: int, m: Tensor, v: Tensor) -> None: ...


def offload(parameters: Sequence[Tensor], gradients: Sequence[Tensor], host: StateHost, step: int, rate: float) -> None:
    """One step of Adam, the ``step``-th, which changes each layer's ``parameters`` in place."""
    for layer, (w, g) in enumerate(zip(parameters, gradients, strict=True)):
        m, v = host.load(layer)  # (1)
        m.lerp_(g, 1 - BETA1)  # (2)
        v.mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
        corrected = torch.sqrt(v / (1 - BETA2**step)) + EPSILON
        w.addcdiv_(m, corrected, value=-rate / (1 - BETA1**step))
        host.store(layer, m, v)  # (3)
        del m, v, corrected


# ---- for any optimizer, and on the host's processor


class Kept(NamedTuple):
    """A tensor in the host's memory."""

    data: NDArray[np.uint8]  # its bytes
    dtype: torch.dtype
    shape: torch.Size
    device: torch.device  # where it goes back to


class Host:
    """Tensors in the host's memory by name. ``down`` and ``up``: bytes copied from the device and to it."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}
        self.down = self.up = 0

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def put(self, name: str, tensor: Tensor) -> None:
        """Copy ``tensor`` to the host, and replace what had this name."""
        flat = tensor.detach().reshape(-1).view(torch.uint8)
        if flat.is_cuda:
            data = torch.empty(len(flat), dtype=torch.uint8, pin_memory=True).copy_(flat).numpy()
        else:
            data = flat.numpy().copy()
        self._kept[name] = Kept(data, tensor.dtype, tensor.shape, tensor.device)
        self.down += len(data)

    def get(self, name: str) -> Tensor:
        """A copy on the device that the tensor came from."""
        kept = self._kept[name]
        self.up += len(kept.data)
        return torch.from_numpy(kept.data).to(kept.device, copy=True).view(kept.dtype).view(kept.shape)

    def numbers(self, name: str) -> NDArray[np.float32]:
        """A float32 view of what is kept, for the host to compute with in place."""
        return self._kept[name].data.view(np.float32)


class OffloadedOptimizer:
    """``optimizer([p])`` for each p of ``parameters``. An optimizer's state is on the device only while its p is
    updated, one p after the other; otherwise it is on the host."""

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
    """ZeRO-Offload's Adam: the host keeps a master copy of the parameters, receives gradients, and sends back
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


# ---- the three placements, measured

SIZES, STEPS = (64, 64, 64, 64), 3


def optimizers(parameters: Sequence[Tensor], host: Host) -> dict[str, Any]:
    """An optimizer for each placement of Adam's state, by the name that the table has."""
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
    """The peak on the device and the traffic of a step, in bytes for each parameter."""
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
