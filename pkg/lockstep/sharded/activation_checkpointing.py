"""Activation checkpointing: the forward pass keeps the inputs of segments, and the backward pass recomputes the rest.

    L layers in S segments

    1. forward     x ━ 1 ─ 2 ─ 3 ━ 4 ─ 5 ─ 6 ━ 7 ━ 8 ━ 9 ━> loss      ━ kept    ─ freed
    2. backward                                7 . 8 . 9              gradients of the last segment, as usual
    3.                            4 ━ 5 ━ 6                           recomputed, and then its gradients
    3.                1 ━ 2 ━ 3                                       recomputed, and then its gradients

    alive at the peak, in outputs of a layer:   S inputs of segments, L/S of one of them; with S = √L: 2√L, and not L
    recomputed:                                 L(S-1)/S layers. A backward pass costs about two forward passes, so a
                                                step takes up to 4/3 of the work

A segment's parameters are inputs of the autograd function: so their gradients are returned in autograd's usual way,
hooks (of DDP, of ZeRO) fire once for each, and a segment whose x needs no gradient is no special case. The generators'
state is restored for the recomputation, so that dropout draws the same numbers.

Source: Chen et al., Training Deep Nets with Sublinear Memory Cost, arXiv:1604.06174, sections 3 and 4.
``torch.utils.checkpoint.checkpoint`` does the same for more kinds of arguments; "re-entrant" is its older form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

Segment = Callable[..., Tensor]
Generators = Sequence[torch.Generator]


class Checkpoint(torch.autograd.Function):
    """``function(*tensors[:count])``; the other ``tensors`` are the parameters that it uses."""

    @staticmethod
    def forward(ctx: Any, function: Segment, generators: Generators, count: int, *tensors: Tensor) -> Tensor:
        ctx.function, ctx.count, ctx.generators, ctx.random = function, count, generators, states(generators)
        ctx.save_for_backward(*tensors)
        return function(*tensors[:count])  # 1: autograd records nothing here

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        inputs = [t.detach().requires_grad_(t.requires_grad) for t in ctx.saved_tensors[: ctx.count]]
        parameters = ctx.saved_tensors[ctx.count :]
        with torch.enable_grad(), restored(ctx.random, ctx.generators):
            output = ctx.function(*inputs)  # 3: again, and recorded
        wanted = [t for t in (*inputs, *parameters) if t.requires_grad]
        found = iter(torch.autograd.grad(output, wanted, grad, allow_unused=True))
        return None, None, None, *(next(found) if t.requires_grad else None for t in (*inputs, *parameters))


def checkpoint(
    function: Segment, *inputs: Tensor, parameters: Sequence[Tensor] = (), generators: Generators = ()
) -> Tensor:
    """``function(*inputs)``, keeping only its inputs for the backward pass. ``parameters``: other tensors that it uses
    and that need a gradient; a module's own are found. ``generators``: others that it draws from than torch's own.
    ``function`` is called twice, and must return the same both times; its side effects happen twice."""
    if isinstance(function, nn.Module):
        parameters = [*function.parameters(), *parameters]
    output: Tensor = Checkpoint.apply(function, generators, len(inputs), *inputs, *parameters)  # type: ignore[no-untyped-call]
    return output


def in_segments(layers: Sequence[nn.Module], S: int, x: Tensor) -> Tensor:
    """The output of ``layers``, one after the other, in S segments of about L/S. The last is not checkpointed: it would
    be recomputed at once."""
    L = len(layers)
    *early, last = [nn.Sequential(*layers[s * L // S : (s + 1) * L // S]) for s in range(S)]
    for segment in early:
        x = checkpoint(segment, x)
    output: Tensor = last(x)
    return output


def alive_at_peak(L: int, S: int) -> int:
    """The most outputs of layers (and the first one's input) alive at once: S + L/S."""
    return S + math.ceil(L / S)


def best_segments(L: int) -> int:
    """The S with the lowest peak: near √L."""
    return min(range(1, L + 1), key=lambda S: alive_at_peak(L, S))


def states(generators: Generators = ()) -> list[Tensor]:
    """The states of ``generators`` and of those that a layer may draw from: this rank's on the CPU, and on its GPU if
    it has one."""
    cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    own = [generator.get_state() for generator in generators]
    return [*own, torch.get_rng_state(), *([torch.cuda.get_rng_state()] if cuda else [])]


@contextmanager
def restored(before: Sequence[Tensor], generators: Generators = ()) -> Iterator[None]:
    """A context that draws from the state ``before``; on leaving it, the generators are back in their present state."""
    now = states(generators)
    draw_from(before, generators)
    try:
        yield
    finally:
        draw_from(now, generators)


def draw_from(states: Sequence[Tensor], generators: Generators = ()) -> None:
    *own, cpu = states[: len(generators) + 1]
    for generator, state in zip(generators, own, strict=True):
        generator.set_state(state)
    torch.set_rng_state(cpu)
    for state in states[len(generators) + 1 :]:
        torch.cuda.set_rng_state(state)
