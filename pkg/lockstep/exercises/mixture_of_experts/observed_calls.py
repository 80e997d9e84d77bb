"""Records of functions of tensors: how often they call torch, and the gradients that flow back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

# float32: a softmax by logarithms is off by so much where scores are in the hundreds.
ROUNDING = {torch.float32: 2e-4, torch.float64: 1e-9}
SHARES = 1e-6  # shares of whole numbers are often float32, where all else is float64


class Called(TorchFunctionMode):
    """Counts calls of torch while it is entered. A list of n numbers counts n times: it is made to loop over it."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.times += args[0].numel() if func is Tensor.tolist else 1
        return func(*args, **(kwargs or {}))


def leaves(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Copies with the same layout, for which autograd computes gradients."""
    return [t.detach().clone().requires_grad_() for t in tensors]


def gradients(output: Any, inputs: Sequence[Tensor]) -> list[Tensor | None] | str:
    """By each of the inputs, of the output's sum, in which each number counts differently, and the first one once. None
    where nothing flows; or what Python says, if autograd can't go backward."""
    if not isinstance(output, Tensor) or not output.requires_grad:
        return [None] * len(inputs)
    weights = ((torch.arange(output.numel()) * 7 + 8) % 11 - 4).to(output).view(output.shape) / 4
    try:
        return list(torch.autograd.grad((output * weights).sum(), inputs, allow_unused=True))
    except RuntimeError as error:
        return str(error).partition("\n")[0].partition(" Hint:")[0].rstrip(".")


def off(held: Tensor, want: Tensor, least: float = 0.0) -> Tensor:
    """Where a tensor is off by more than rounding, ``least`` of which is forgiven at any rate."""
    rounding = max(least, ROUNDING.get(want.dtype, 0.0))
    return ~torch.isclose(held.to(want.dtype), want, rtol=rounding, atol=rounding)


def rounded(value: Any) -> Any:
    """Numbers with as many digits as another order of operations leaves alone: answers that agree in them are alike."""
    if isinstance(value, Tensor) and value.is_floating_point():
        return [f"{value.dtype}", (value.double() * 1e4).round()]
    return [rounded(v) for v in value] if isinstance(value, list) else value


def apart(held: Tensor, want: Tensor) -> tuple[str, str]:
    """Two rows, with as many digits as it takes to tell them apart."""
    pairs = ((numbers(held, digits=digits), numbers(want, digits=digits)) for digits in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (numbers(held), numbers(want)))


def numbers(tensor: Tensor, most: int = 8, digits: int = 4) -> str:
    """A row of a tensor in a sentence."""
    row = [f"{n:.{digits}g}" for n in tensor.flatten().tolist()]
    return f"[{', '.join(row[:most] + ['...'] * (len(row) > most))}]"
