"""What a worker does with its stream: passes and messages in turn, what it holds, and gradients to compare with one
rank's.

A task is one model, cut into stages, and one or more streams for each stage that follow one another. A stage is two
linear layers with tanh, or tanh alone, which has no parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.models import linear
from lockstep.pipeline import schedules
from lockstep.pipeline.drawn_schedule import drawing, streams_of
from lockstep.pipeline.instructions import Pair, pairs
from lockstep.residency import weighed

FLOAT = 4  # bytes
Streams = Sequence[Sequence[Pair]]  # of each stage


@dataclass(frozen=True)
class Task:
    """``widths``: of the inputs of each stage, and of the last one's output. The stage ``bare`` has no parameters, and
    leaves the width as it is. ``turns``: streams of all stages, for each call of the worker."""

    widths: Sequence[int]
    examples: int
    turns: Sequence[Streams]
    bare: int = -1
    seed: int = 0

    @property
    def stages(self) -> int:
        return len(self.widths) - 1

    def module(self, stage: int) -> nn.Sequential:
        before, after = self.widths[stage], self.widths[stage + 1]
        if stage == self.bare:
            return nn.Sequential(nn.Tanh())
        first = linear(before, after, self.seed, 2 * stage)
        return nn.Sequential(first, nn.Tanh(), linear(after, after, self.seed, 2 * stage + 1), nn.Tanh())

    def batch(self, turn: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets of a turn's micro-batches: (m, examples, width)."""
        m = sum(kind == "F" for kind, _ in self.turns[turn][0])
        dice = torch.Generator().manual_seed(self.seed + turn)
        x = torch.randn(m, self.examples, self.widths[0], generator=dice)
        return x, torch.randn(m, self.examples, self.widths[-1], generator=dice)

    def gradients(self, turn: int) -> list[list[Tensor]]:
        """Of each stage: those of one rank with the whole model and the whole batch."""
        modules = [self.module(stage) for stage in range(self.stages)]
        x, target = self.batch(turn)
        torch.autograd.backward(F.mse_loss(nn.Sequential(*modules)(x.flatten(0, 1)), target.flatten(0, 1)))
        return [[p.grad for p in module.parameters() if p.grad is not None] for module in modules]

    def inputs_of(self, stage: int, turn: int) -> Tensor:
        """x of each micro-batch on a stage."""
        x, _ = self.batch(turn)
        with torch.no_grad():
            for before in range(stage):
                x = self.module(before)(x)
        return x

    def room(self, stage: int, turn: int) -> int:
        """Bytes that a worker may hold in addition to its arguments: what belongs to one micro-batch more than are
        under way at once (x, y, dx, dy and what lies between), and gradients of all parameters, four
        times: what adds them up may hold a sum, the next one and their sum."""
        before, after = self.widths[stage], self.widths[stage + 1]
        inside = 0 if stage == self.bare else after
        one = FLOAT * self.examples * (2 * before + 2 * after + inside)
        numbers = sum(p.numel() for p in self.module(stage).parameters())
        return (under_way(self.turns[turn][stage]) + 1) * one + 4 * FLOAT * numbers


def under_way(stream: Sequence[Pair]) -> int:
    """How many micro-batches are at most between their first and their last pair."""
    ends = [(where[0], where[-1]) for where in _places(stream).values()]
    return max(sum(first <= at <= last for first, last in ends) for at in range(len(stream)))


def _places(stream: Sequence[Pair]) -> dict[int, list[int]]:
    found = dict[int, list[int]]()
    for at, (_, i) in enumerate(stream):
        found.setdefault(i, []).append(at)
    return found


def observed(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
    """What the worker returns on each turn; and of each its "passes", the most bytes that it "held", whether "inputs"
    of the first stage ask for gradients afterwards, what each .grad held at the beginning, "old", and whether the last
    turn has "spoilt" what it returned. At first one parameter in two has a .grad."""
    task, stage = arguments
    module, results, facts = (
        task.module(stage),
        list[Any](),
        dict[str, list[Any]](passes=[], held=[], inputs=[], old=[]),
    )
    parameters, returned = list(module.parameters()), list[Any]()
    for parameter in parameters[::2]:
        parameter.grad = torch.ones_like(parameter)
    for turn, streams in enumerate(task.turns):
        x, target = task.batch(turn)
        inputs, targets = list(x) if stage == 0 else [], list(target) if stage == task.stages - 1 else []
        shape = (task.examples, task.widths[stage])
        facts["old"].append([None if p.grad is None else p.grad.clone() for p in parameters])
        with noted(module, task.inputs_of(stage, turn)) as passes:
            result, memory = weighed(fn, module, [*streams[stage]], inputs, targets, F.mse_loss, shape)
        returned.append(result)
        results.append(_copied(result))
        facts["passes"].append([f"{kind}{i}" for kind, i in passes])
        facts["held"].append(memory["peak"])
        facts["inputs"].append(any(x.requires_grad for x in inputs))
    facts["spoilt"] = [not _same(*both) for both in zip(returned, results, strict=True)]
    return results, facts


def _copied(result: Any) -> Any:
    kept = isinstance(result, (list, tuple))
    return [v.clone() if isinstance(v, Tensor) else v for v in result] if kept else result


def _same(result: Any, copy: Any) -> bool:
    if not isinstance(copy, list):
        return True
    pairs = [(v, c) for v, c in zip(result, copy, strict=False) if isinstance(v, Tensor)]
    return len(result) == len(copy) and all(v.shape == c.shape and v.equal(c) for v, c in pairs)


@contextmanager
def noted(module: nn.Module, inputs: Tensor) -> Iterator[list[Pair]]:
    """The passes of ``module``, in turn. The micro-batch is found by its input; -1: none of ``inputs``."""
    passes = list[Pair]()

    def forward(_: nn.Module, given: tuple[Any, ...], y: Tensor) -> None:
        x = given[0].detach()
        i = next((n for n, one in enumerate(inputs) if one.shape == x.shape and torch.allclose(one, x, atol=1e-5)), -1)
        passes.append(("F", i))
        if y.requires_grad:
            y.register_hook(lambda _: passes.append(("B", i)))  # type: ignore[no-untyped-call]

    handle = module.register_forward_hook(forward)
    try:
        yield passes
    finally:
        handle.remove()


def named(name: str, stages: int, micro_batches: int) -> Streams:
    """Those of a schedule of the library."""
    return [pairs(stream) for stream in schedules.streams(name, stages, micro_batches)]


def random_streams(stages: int, micro_batches: int, seed: int) -> list[list[Pair]]:
    """Of a legal drawing: micro-batches go forward in one random order, and back in another one. In each slot a stage
    does anything that it can, or nothing."""
    dice, p, m = Random(seed), stages, range(micro_batches)
    there, back = dice.sample(m, micro_batches), dice.sample(m, micro_batches)
    rows, f, b = [list[str]() for _ in range(p)], [0] * p, [0] * p
    while b[0] < micro_batches:
        came, turned = [micro_batches, *f[:-1]], there[: f[-1]]  # on the last stage
        for s, row in enumerate(rows):
            able = [f"F{there[f[s]]}"] if f[s] < came[s] else []
            if b[s] < (b[s + 1] if s + 1 < p else micro_batches) and (s + 1 < p or back[b[s]] in turned):
                able.append(f"B{back[b[s]]}")
            cell = dice.choice([*able, *able, ".."])
            row.append(cell)
            f[s] += cell.startswith("F")
            b[s] += cell.startswith("B")
    return streams_of(rows)


LATE = (  # all of a stage at once, and in no order
    "F0 F1 F2 send_activation2 send_activation0 send_activation1 "
    "receive_gradient1 receive_gradient2 receive_gradient0 B1 B0 B2",
    "receive_activation2 receive_activation0 receive_activation1 F0 F1 F2 B2 B1 B0 "
    "send_gradient1 send_gradient2 send_gradient0",
)


def written(stream: str) -> list[Pair]:
    """Pairs from text."""
    return [(pair[:-1].replace("_", " "), int(pair[-1])) for pair in stream.split()]


LONG = "24 micro-batches"  # large ones, where memory counts


def tasks(ranks: int, seed: int) -> dict[str, Task]:
    """What is tried on so many ranks, by its name; of 4 and 5 ranks some are no stage."""

    def task(widths: Sequence[int], *turns: Streams, examples: int = 5, bare: int = -1) -> Task:
        return Task(widths, examples, turns, bare, seed)

    ascending = [[("F", 0), ("F", 1), ("F", 2), ("B", 0), ("B", 1), ("B", 2)]]
    tried = {
        1: {"naive, then GPipe": task([5, 4], named("naive", 1, 3), ascending)},
        2: {
            "1F1B": task([5, 3, 6], named("one_f_one_b", 2, 5)),
            "any order": task([4, 4, 4], random_streams(2, 6, seed), list(map(written, LATE)), named("naive", 2, 1)),
        },
        3: {
            "GPipe, then any order": task([5, 5, 6, 4], named("gpipe", 3, 3), random_streams(3, 5, seed)),
            "a stage without parameters": task([5, 6, 6, 3], streams_of(drawing(3, 6, 3)), bare=1),
            LONG: task([48] * 4, named("one_f_one_b", 3, 24), examples=96),
        },
        4: {"1F1B": task([3, 5, 4], named("one_f_one_b", 2, 3))},
        5: {"fewer micro-batches than stages": task([3, 5, 4, 6], named("one_f_one_b", 3, 2))},
    }
    return tried[ranks]
