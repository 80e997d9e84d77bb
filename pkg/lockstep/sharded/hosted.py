"""Adam's state on the host: a layer's m and v come to the device for its own update, and go back.

    host    m0 v0   m1 v1   m2 v2           (1) load    (2) update m, v and the parameters    (3) store, and let go
              │ ▲     │ ▲     │ ▲
    device    ▼ │     ▼ │     ▼ │           one layer's m and v at a time, not 2·Ψ numbers

On the device there are parameters and gradients; Adam's two numbers for each cross the bus twice in a step. In
the worlds without a GPU the host's memory is NumPy's, the device's is what torch holds.
Source: Rajbhandari et al., ZeRO-Infinity (arXiv:2104.07857), section 5.2.2, which streams the state past the device
as here; ZeRO-Offload (Ren et al., arXiv:2101.06840) sends the gradients to the host instead, and computes Adam there.
Adam: Kingma and Ba (arXiv:1412.6980), algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Host(Protocol):
    """Where Adam's state is between two steps. ``load`` gives copies on the device, zeros in the beginning."""

    def load(self, layer: int) -> tuple[Tensor, Tensor]: ...

    def store(self, layer: int, m: Tensor, v: Tensor) -> None: ...


def offload(parameters: Sequence[Tensor], gradients: Sequence[Tensor], host: Host, step: int, rate: float) -> None:
    """One step of Adam, the ``step``-th, which changes each layer's ``parameters`` in place."""
    for layer, (w, g) in enumerate(zip(parameters, gradients, strict=True)):
        m, v = host.load(layer)  # (1)
        m.lerp_(g, 1 - BETA1)  # (2)
        v.mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
        corrected = torch.sqrt(v / (1 - BETA2**step)) + EPSILON
        w.addcdiv_(m, corrected, value=-rate / (1 - BETA1**step))
        host.store(layer, m, v)  # (3)
        del m, v, corrected
