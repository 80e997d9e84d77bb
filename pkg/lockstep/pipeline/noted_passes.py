"""A stage's forward and backward pass in whole numbers, which write down when they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from lockstep.pipeline.pairs import Pair

MOD = 1021  # numbers stay below, so that they are exact in float32


@dataclass
class Passes:
    """``forward(i, x)`` and ``backward(i, dy)`` of a stage. Both depend on the stage, on i and on each number that is
    given; the first stage has x of its own, and the last one dy."""

    stage: int
    stages: int
    shape: Sequence[int]
    calls: list[Pair] = field(default_factory=list)

    def forward(self, i: int, x: Tensor | None) -> Tensor:
        return self._pass("F", i, None if self.stage == 0 else x, self.stage > 0)

    def backward(self, i: int, dy: Tensor | None) -> Tensor:
        last = self.stage == self.stages - 1
        return self._pass("B", i, None if last else dy, not last)

    def _pass(self, kind: str, i: int, given: Tensor | None, wanted: bool) -> Tensor:
        if wanted and not (isinstance(given, Tensor) and tuple(given.shape) == tuple(self.shape)):
            what, name = ("x", "forward") if kind == "F" else ("dy", "backward")
            is_there = f"a tensor of shape {tuple(given.shape)}" if isinstance(given, Tensor) else repr(given)[:60]
            raise TypeError(f"{name}(i, {what}) wants a tensor of shape {tuple(self.shape)} here, not {is_there}")
        self.calls.append((kind, int(i)))
        own = torch.arange(torch.Size(self.shape).numel(), dtype=torch.float32).reshape(tuple(self.shape))
        before = own if given is None else given
        return (before * (2 + self.stage) + 37 * i + (5 if kind == "F" else 11)) % MOD


def results_of(stages: int, micro_batches: int, shape: Sequence[int]) -> list[tuple[Tensor, ...]]:
    """What ``backward`` returns on each stage for each micro-batch."""
    rows: list[list[Tensor]] = [[] for _ in range(stages)]
    dy: Tensor | None = None
    for i in range(micro_batches):
        for stage in reversed(range(stages)):
            dy = Passes(stage, stages, shape).backward(i, dy)
            rows[stage].append(dy)
    return [tuple(row) for row in rows]


def observed(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, list[list[Any]]]:
    """What ``fn`` returns, and the passes that it has called, in turn."""
    passes = arguments[0].__self__
    return fn(*arguments), [list(call) for call in passes.calls]
