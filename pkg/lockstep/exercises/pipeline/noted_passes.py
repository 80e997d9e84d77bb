"""A stage's forward and backward pass in whole numbers, which record when they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from lockstep.pipeline.instructions import Pair

MOD = 1021  # numbers stay below, so that they are exact in float32


@dataclass
class Passes:
    """``forward(i, x)`` and ``backward(i, dy)`` of a stage. Both depend on the stage, on i and on each number that is
    given; the first stage has x of its own, and the last one dy. The forward pass keeps x itself, no copy of it, and
    the backward pass looks at it again."""

    stage: int
    stages: int
    shape: Sequence[int]
    calls: list[Pair] = field(default_factory=list)
    kept: dict[int, Tensor] = field(default_factory=dict)
    copies: dict[int, Tensor] = field(default_factory=dict)  # of x, as forward has seen it
    spoilt: list[int] = field(default_factory=list)  # whose x was another one when its backward pass came

    def forward(self, i: int, x: Tensor | None) -> Tensor:
        y, self.kept[int(i)] = self._pass("F", i, None if self.stage == 0 else x, self.stage > 0)
        self.copies[int(i)] = self.kept[int(i)].clone()
        return y

    def backward(self, i: int, dy: Tensor | None) -> Tensor:
        last = self.stage == self.stages - 1
        if int(i) not in self.kept:
            raise ValueError(f"backward({int(i)}, dy) wants what forward({int(i)}, x) has kept: call forward first")
        dx, _ = self._pass("B", i, None if last else dy, not last)
        self.spoilt += [] if self.kept[int(i)].equal(self.copies[int(i)]) else [int(i)]
        return (dx + 3 * self.kept[int(i)]) % MOD

    def _pass(self, kind: str, i: int, given: Tensor | None, wanted: bool) -> tuple[Tensor, Tensor]:
        if wanted and not (isinstance(given, Tensor) and tuple(given.shape) == tuple(self.shape)):
            what, name = ("x", "forward") if kind == "F" else ("dy", "backward")
            is_there = f"a tensor of shape {tuple(given.shape)}" if isinstance(given, Tensor) else repr(given)[:60]
            raise TypeError(f"{name}(i, {what}) wants a tensor of shape {tuple(self.shape)} here, not {is_there}")
        self.calls.append((kind, int(i)))
        own = torch.arange(torch.Size(self.shape).numel(), dtype=torch.float32).reshape(tuple(self.shape))
        before = own if given is None else given
        return (before * (2 + self.stage) + 37 * i + (5 if kind == "F" else 11)) % MOD, before


def results_of(stages: int, micro_batches: int, shape: Sequence[int]) -> list[tuple[Tensor, ...]]:
    """What ``backward`` returns on each stage for each micro-batch."""
    rows: list[list[Tensor]] = [[] for _ in range(stages)]
    passes = [Passes(stage, stages, shape) for stage in range(stages)]
    x: Tensor | None = None
    dy: Tensor | None = None
    for i in range(micro_batches):
        for stage in passes:
            x = stage.forward(i, x)
        for stage in reversed(passes):
            dy = stage.backward(i, dy)
            rows[stage.stage].append(dy)
    return [tuple(row) for row in rows]


def observed(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, dict[str, list[Any]]]:
    """What ``fn`` returns, and the "passes" that it has called, in turn; and those whose x was "spoilt"."""
    passes = arguments[0].__self__
    return fn(*arguments), {"passes": [list(call) for call in passes.calls], "spoilt": passes.spoilt}
