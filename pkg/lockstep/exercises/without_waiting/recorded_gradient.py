"""A gradient that records its calls: for which steps, and whether w has changed since the last one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.checks.plain import plain


@dataclass
class MovingBowl:
    """The gradient of a parabola in each coordinate, whose middle moves in each step."""

    curvature: float
    middle: Tensor
    asked: list[int] = field(default_factory=list)  # the steps, in order
    still: list[int] = field(default_factory=list)  # those with the w of the call before, whose gradient was not 0
    given: list[Tensor] = field(default_factory=list, repr=False)  # the w of each call
    last: Tensor | None = field(default=None, repr=False)

    def __call__(self, w: Tensor, step: int) -> Tensor:
        g = self.curvature * (w - (step + 1) * self.middle.to(w.device))
        self.asked.append(int(step))
        self.given.append(w.detach().clone())
        if self.last is not None and torch.equal(self.last, w):
            self.still.append(int(step))
        self.last = w.detach().clone() if g.any() else None
        return g


def observed(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, dict[str, Any]]:
    """What ``fn`` returns; and the steps that this rank has to make, for which it has "asked" its first argument, of
    these the ones with an old w, and which w was "given" for each."""
    bowl, _, steps, *_ = arguments
    result = fn(*arguments)
    found = {"rank": dist.get_rank(), "steps": list(range(steps)), "asked": bowl.asked, "still": bowl.still}
    return result, found | {"given": plain(bowl.given)}
