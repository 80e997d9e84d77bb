"""Mixed-precision Adam: the 2 + 2 + 12 bytes a parameter of the ZeRO paper.

    2    parameters, in bfloat16: what the model computes with
    2    their gradients, in bfloat16
    12   the optimizer's, in float32: a master copy of the parameters, momentum, variance

An update is small compared with its parameter, and with 8 bits of mantissa it would be rounded away: so updates
accumulate in the master. The model is in bfloat16, whole (stage 0) or in shards:
``Zero(GPT(dtype=torch.bfloat16), MixedAdam, stage=2)``.

Source: Rajbhandari et al., ZeRO, arXiv:1910.02054, section 3.1; Adam: Kingma, Ba, arXiv:1412.6980, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor


class MixedAdam(torch.optim.Optimizer):
    """``state[p]``: "master", "momentum" and "variance" in float32, made at once; each as long as ``p``.

    One parameter's gradient in float32 exists at a time."""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})
        self.steps = 0
        for p in self._parameters():
            master = p.detach().float()
            self.state[p] = {
                "master": master,
                "momentum": torch.zeros_like(master),
                "variance": torch.zeros_like(master),
            }

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Move the master by Adam's rule, and round the parameter from it."""
        self.steps += 1
        for group in self.param_groups:
            (b1, b2), lr, eps = group["betas"], group["lr"], group["eps"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                master, m, v = self.state[p].values()
                g = p.grad.float()
                m.lerp_(g, 1 - b1)
                v.mul_(b2).addcmul_(g, g, value=1 - b2)
                size = torch.div(v, 1 - b2**self.steps, out=g).sqrt_().add_(eps)
                master.addcdiv_(m, size, value=-lr / (1 - b1**self.steps))
                p.copy_(master)

    def _parameters(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]
