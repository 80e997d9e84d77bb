"""Activation checkpointing: the forward pass keeps the inputs of segments, and the backward pass computes the rest.

    L layers in S segments

    1. forward     x ━ 1 ─ 2 ─ 3 ━ 4 ─ 5 ─ 6 ━ 7 ━ 8 ━ 9 ━> loss      ━ kept    ─ let go of
    2. backward                                7 . 8 . 9              gradients of the last segment, as ever
    3.                            4 ━ 5 ━ 6                           again, and then its gradients
    3.                1 ━ 2 ━ 3                                       again, and then its gradients

    alive at the peak, in outputs of a layer:   S inputs of segments, L/S of one of them; with S = √L: 2√L, and not L
    computed again:                             L(S-1)/S layers. A backward pass is about two forward passes, so a step
                                                takes up to 4/3 of its work

Parameters of a segment are inputs of the function: so their gradients leave it by autograd's own way, hooks (of DDP, of
ZeRO) see each once, and a segment whose x needs no gradient is no special case. Random numbers (dropout) are drawn
again with the state of the generators that they were drawn with.

Source: Chen et al., Training Deep Nets with Sublinear Memory Cost, arXiv:1604.06174, sections 3 and 4.
``torch.utils.checkpoint.checkpoint`` is the same with more kinds of arguments; "re-entrant" is the older form of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

Segment = Callable[..., Tensor]


class Checkpoint(torch.autograd.Function):
    """``function(*inputs)``; ``rest`` are the parameters that it uses besides."""

    @staticmethod
    def forward(ctx: Any, function: Segment, count: int, *tensors: Tensor) -> Tensor:
        ctx.function, ctx.count, ctx.random = function, count, states()
        ctx.save_for_backward(*tensors)
        return function(*tensors[:count])  # 1: autograd records nothing in here

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        inputs = [t.detach().requires_grad_(t.requires_grad) for t in ctx.saved_tensors[: ctx.count]]
        parameters = ctx.saved_tensors[ctx.count :]
        with torch.enable_grad(), restored(ctx.random):
            output = ctx.function(*inputs)  # 3: again, and recorded
        wanted = [t for t in (*inputs, *parameters) if t.requires_grad]
        found = iter(torch.autograd.grad(output, wanted, grad, allow_unused=True))
        return None, None, *(next(found) if t.requires_grad else None for t in (*inputs, *parameters))


def checkpoint(function: Segment, *inputs: Tensor, parameters: Sequence[Tensor] = ()) -> Tensor:
    """``function(*inputs)``, of which nothing but the inputs is kept for the backward pass. Tensors that it uses
    besides and that need a gradient are ``parameters``; those of a module are found. It must give the same when it is
    called again: what it counts or prints, it counts or prints twice."""
    if isinstance(function, nn.Module):
        parameters = [*function.parameters(), *parameters]
    output: Tensor = Checkpoint.apply(function, len(inputs), *inputs, *parameters)  # type: ignore[no-untyped-call]
    return output


def in_segments(layers: Sequence[nn.Module], S: int, x: Tensor) -> Tensor:
    """The output of ``layers``, one after the other, in S segments of about L/S. The last is not checkpointed: it would
    be computed again at once."""
    L = len(layers)
    *early, last = [nn.Sequential(*layers[s * L // S : (s + 1) * L // S]) for s in range(S)]
    for segment in early:
        x = checkpoint(segment, x)
    output: Tensor = last(x)
    return output


def alive_at_peak(L: int, S: int) -> int:
    """Outputs of layers (and the first one's input) that are there at once: S + L/S."""
    return S + math.ceil(L / S)


def best_segments(L: int) -> int:
    """The S with which least is alive: near √L."""
    return min(range(1, L + 1), key=lambda S: alive_at_peak(L, S))


def states() -> list[Tensor]:
    """Of the generators that a layer may draw from: this rank's on the CPU, and on its GPU if it has one."""
    cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return [torch.get_rng_state(), *([torch.cuda.get_rng_state()] if cuda else [])]


@contextmanager
def restored(before: Sequence[Tensor]) -> Iterator[None]:
    """Random numbers in here are those that followed ``before``; afterwards all goes on as if none had been drawn."""
    now = states()
    draw_from(before)
    try:
        yield
    finally:
        draw_from(now)


def draw_from(states: Sequence[Tensor]) -> None:
    torch.set_rng_state(states[0])
    for state in states[1:]:
        torch.cuda.set_rng_state(state)
