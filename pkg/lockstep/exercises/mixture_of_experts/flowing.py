"""What exercises about tensors are judged by here: their values, and the gradients that flow back from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from lockstep.checks.numbers import apart
from lockstep.checks.rules import Rule
from lockstep.checks.values import told

ROUNDING = {torch.float32: 1e-5, torch.float64: 1e-6}  # shares of whole numbers are often float32
Facts = dict[str, Any]

# Rules for what ``kind`` and ``flow`` find. NOTHING: of a call of which nothing is known yet.
NOTHING = dict.fromkeys(("type", "shape", "dtype", "backward", "cut", "flows"))
KIND = (
    Rule("wrong-type", lambda e: e["type"], "it returns {type}; {asked} is wanted."),
    Rule("wrong-shape", lambda e: e["shape"], "{name} has the shape {shape}, not {right}."),
    Rule("wrong-dtype", lambda e: e["dtype"], "{name} is {dtype}, not {right}."),
)
FLOW = (
    Rule("no-gradient", lambda e: e["backward"], "autograd can't go backward from your result: {backward}.",
         telling=True),
    Rule("no-gradient", lambda e: e["cut"], "the values are right, but no gradient flows to {cut}.", telling=True),
    Rule("wrong-values", lambda e: e["flows"], "the values are right, but of the gradient by {by} element {at} is "
         "{flows}, not {should}."),
)  # fmt: skip


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what torch is asked to compute while it is entered."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.number = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.number += 1
        return func(*args, **(kwargs or {}))


def leaves(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Copies, laid out alike, of which autograd takes gradients."""
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


def kind(name: str, held: Any, want: Tensor) -> Facts:
    """That it is no such tensor; nothing if it is one."""
    if not isinstance(held, Tensor):
        return {"type": told(held), "asked": "a tensor"}
    if held.shape != want.shape:
        return {"name": name, "shape": f"{tuple(held.shape)}", "right": f"{tuple(want.shape)}"}
    return {"name": name, "dtype": f"{held.dtype}", "right": f"{want.dtype}"} if held.dtype != want.dtype else {}


def flow(names: Sequence[str], flows: Any, right: Any) -> Facts:
    """What is wrong with the ``gradients`` by ``names``."""
    if isinstance(flows, str):
        return {"backward": flows}
    pairs = list(zip(names, flows, right, strict=True))
    for name, held, _ in pairs:
        if held is None:
            return {"cut": name}
    for name, held, want in pairs:
        for at in off(held, want).flatten().nonzero().flatten().tolist()[:1]:
            there, should = apart(held.flatten()[at].item(), want.flatten()[at].item())
            return {"by": name, "at": at, "flows": there, "should": should}
    return {}


def off(held: Tensor, want: Tensor) -> Tensor:
    """Where a tensor is off by more than rounding."""
    rounding = ROUNDING[want.dtype]
    return ~torch.isclose(held.to(want.dtype), want, rtol=rounding, atol=rounding)


def rounded(value: Any) -> Any:
    """Numbers with as many digits as another order of operations leaves alone: answers that agree in them are alike."""
    if isinstance(value, Tensor) and value.is_floating_point():
        return (value.double() * 1e4).round()
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return {k: rounded(v) for k, v in value.items()} if isinstance(value, dict) else value


def numbers(tensor: Tensor, most: int = 8) -> str:
    """A row of a tensor in a sentence."""
    row = [f"{n:.4g}" for n in tensor.flatten().tolist()]
    return f"[{', '.join(row[:most] + ['...'] * (len(row) > most))}]"
