"""What a rank hands to its all-reduces, and whether that shows the number that it should hide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from lockstep.without_waiting.mask import Mask

Shown = tuple[str, str]  # the misconception, and what the rank does


class MaskThere(torch.nn.Module):
    """A mask on the device to which this is moved."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.mask = Mask(shape)
        self.register_buffer("there", torch.empty(0))

    def forward(self, secret: int) -> Tensor:
        return self.mask(secret).to(self.get_buffer("there").device)


class Handed(TorchFunctionMode):
    """Copies of what is given to dist.all_reduce."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "all_reduce":
            self.tensors.append(args[0].detach().cpu().clone())
        return func(*args, **(kwargs or {}))


def observed(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, list[Tensor]]:
    """What ``fn`` returns, and what it has handed to its all-reduces meanwhile."""
    with Handed() as handed:
        return fn(*arguments), handed.tensors


def shown(own: Tensor, handed: Sequence[Tensor], masks: Sequence[Tensor], modulus: int) -> Shown | None:
    """Whether ``own`` can be read from what is handed over, modulo ``modulus``: by anybody, or by those together who
    know some of the ``masks``, but not all."""
    if not handed:
        return "no-all-reduce", "hands nothing to dist.all_reduce: let that add up."
    for piece in _pieces(handed, own.numel()):
        added = (piece - own.flatten()) % modulus
        if (added == 0).any():
            return "shows-value", (
                "hands its value to the all-reduce so that it can be read. Add to it, or take off, masks that only "
                "this rank and one other know."
            )
        if (added == added[0]).all():
            return "same-for-all-elements", (
                "adds one number to all elements of its value: their differences show. mask(secret) has one for each."
            )
        for signs in product((1, -1, 0), repeat=len(masks)):
            used = sum(sign * mask.flatten() for sign, mask in zip(signs, masks, strict=True))
            if 0 in signs and ((added - used) % modulus == 0).any():
                return "too-few-masks", (
                    f"uses the masks of {len(masks) - signs.count(0)} of its {len(masks)} secrets: the ranks that it "
                    "shares these with could read its value together. Use all of them."
                )
    return None


def out_of_range(handed: Sequence[Tensor], modulus: int) -> Shown | None:
    """The first number that is not below ``modulus``, or is negative."""
    off = [number for tensor in handed for number in tensor.flatten().tolist() if not 0 <= number < modulus]
    told = "to the all-reduce. That tells something about the value: reduce it modulo 2**32 before."
    return ("out-of-range", f"hands {off[0]:,} {told}") if off else None


def _pieces(handed: Sequence[Tensor], n: int) -> Iterator[Tensor]:
    """All that is handed over, in pieces as long as the value; and the difference of any two."""
    flat = [tensor.flatten().long() for tensor in handed]
    whole = [values[at : at + n] for values in flat for at in range(0, len(values) - n + 1, n)]
    yield from whole
    yield from (sign * (a - b) for a, b in combinations(whole, 2) for sign in (1, -1))
