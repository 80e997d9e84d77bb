"""What a wrong output or gradient of a layer has to do with the right one, where that is plain: sentences about one
run, of which each says only what its numbers show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.numbers import apart
from lockstep.checks.wording import counted

ROUNDING = 1e-9
SMALL = 5e-7  # of the largest number: some roundings of float32
FILLED = {0.0: "zeros", 1.0: "ones"}


def close(held: Any, want: Tensor) -> bool:
    return isinstance(held, Tensor) and held.shape == want.shape and torch.allclose(held, want, ROUNDING, ROUNDING)


def told_apart(held: Tensor, want: Tensor, K: int) -> str:
    """Where two tensors of one shape differ by more than rounding; "" if nowhere."""
    off = ~torch.isclose(held, want, ROUNDING, ROUNDING).flatten()
    if not off.any():
        return ""
    at = int(off.nonzero()[0])
    there, right = apart(held.flatten()[at].item(), want.flatten()[at].item())
    told = f"element {at} is {there}, not {right} ({int(off.sum()):,} of {counted(want.numel(), 'element')} differ)."
    return told + (times(held, want, K) or rounded_away(held, want))


def times(held: Tensor, want: Tensor, K: int) -> str:
    """Whether all is the right one by one factor. What is alike on K ranks becomes K times as much in a sum."""
    by = float((held * want).sum() / want.square().sum()) if want.any() else 0.0
    if want.numel() == 1 or not by or not close(held, by * want):
        by = next((by for by in (1 / K, K) if close(held, by * want)), 0.0)
    if not by:
        return ""
    named = f"1/{K} of" if abs(by * K - 1) < ROUNDING else f"{by:.4g} times"
    summed = f", as a sum of what {K} ranks have alike is" if K > 1 and abs(by - K) < ROUNDING else ""
    return f" All of it is {named} what it should be{summed}."


def rounded_away(held: Tensor, want: Tensor) -> str:
    """Whether they differ by as little as float32 does."""
    near = bool((held - want).abs().max() <= SMALL * want.abs().max())
    return " Is something float32 on the way? All numbers are float64." if near else ""


def summands(held: Sequence[Any], want: Tensor) -> str:
    """Whether each rank has its own summand of a gradient that is to be whole on all."""
    if any(not isinstance(one, Tensor) or one.shape != want.shape for one in held) or len(held) == 1:
        return ""
    if all(close(one, held[0]) for one in held):  # an average has been made
        return ""
    right = close(torch.stack(list(held)).sum(0), want)
    return " All ranks' together add up to it: each rank has a summand, and needs the sum." if right else ""


def in_place_of(
    serial: Callable[..., Tensor], names: Sequence[str], drawn: Sequence[Any], fits: Callable[[Tensor], bool], K: int
) -> str:
    """Whether the outputs would be right, as ``fits`` says, if one of the arguments were zeros, or ones, or K times as
    large or small."""
    for n, (name, given) in enumerate(zip(names, drawn, strict=True)):
        if isinstance(given, Tensor) and given.is_floating_point():
            others = {f"{FILLED[value]} in place of {name}: is {name} used?": given * 0 + value for value in FILLED}
            if K > 1:
                others |= {f"{name}/{K} in place of {name}.": given / K, f"{K}·{name} in place of {name}.": given * K}
            for told, other in others.items():
                if fits(serial(*drawn[:n], other, *drawn[n + 1 :])):
                    return f"It is right for {told}"
    return ""


def added_up(held: Sequence[Any], wanted: Sequence[Tensor]) -> str:
    """Whether each rank has the sum of gradients that belong to one rank each."""
    if len({want.shape for want in wanted}) > 1 or len(wanted) == 1:
        return ""
    total = torch.stack(list(wanted)).sum(0)
    return (
        " It is the sum of what all ranks should have: is there an f too many?"
        if all(close(h, total) for h in held)
        else ""
    )


def too_much(rank: int, held: Tensor, want: Tensor, names: Sequence[str], given: Sequence[Any]) -> str:
    """Whether an output is off by one of the arguments, so many times."""
    for name, argument in zip(names, given, strict=True):
        wide = _spread(argument, want)
        by = float(((held - want) * wide).sum() / wide.square().sum()) if wide is not None else 0.0
        if wide is not None and abs(by) > ROUNDING and close(held, want + by * wide):
            times = f"{abs(by):.4g}·{name}".removeprefix("1·")
            return f"Rank {rank} has {times} too {'much' if by > 0 else 'little'}; all else is right there."
    return ""


def _spread(argument: Any, out: Tensor) -> Tensor | None:
    """An argument as it is added to the output; None if it can't be, or is zero."""
    if not isinstance(argument, Tensor) or not argument.is_floating_point() or not argument.any():
        return None
    if argument.shape == out.shape:
        return argument
    if argument.dim() != 1:
        return None
    along = 1 if out.dim() == 4 else out.dim() - 1  # channels, or features
    if not out.dim() or out.shape[along] != len(argument):
        return None
    return argument.view(-1, *[1] * (out.dim() - 1 - along)).expand(out.shape)
