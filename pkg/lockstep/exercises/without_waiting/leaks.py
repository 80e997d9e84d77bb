"""What leaves a rank: what it hands to its all-reduces and sends otherwise, prints and writes; and whether that shows
the number that it should hide."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from lockstep.residency.opened_files import written
from lockstep.without_waiting.mask import Mask

LARGE = 10**5
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
    """Copies of what is given to dist.all_reduce, and of what is given to other functions that send something."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors: list[Tensor] = []
        self.others: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        if name == "all_reduce":
            self.tensors += _copies(args[:1] or [kwargs["tensor"]])
        elif getattr(func, "__module__", "") == "torch.distributed.distributed_c10d" and "recv" not in name:
            self.others += _copies([*args, *kwargs.values()])
        return func(*args, **kwargs)


def _copies(given: Iterable[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for value in given:
        if isinstance(value, Tensor):
            found.append(value.detach().cpu().clone())
        elif isinstance(value, (list, tuple)):
            found += _copies(value)
    return found


def observed(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, dict[str, Any]]:
    """What ``fn`` returns, and what left the rank meanwhile: by its all-reduces ("reduced"), by other operations
    ("sent"), and how many files it has opened to write ("files")."""
    with Handed() as handed, written() as paths:
        result = fn(*arguments)
    return result, {"reduced": handed.tensors, "sent": handed.others, "files": len(paths)}


def told_elsewhere(secret: Sequence[int], sent: Sequence[Tensor], printed: str, files: int) -> Shown | None:
    """Whether one of the numbers that are ``secret`` leaves a rank by another way than its all-reduce."""
    hidden = {number for number in secret if number >= LARGE}  # a small one occurs anywhere by chance
    alone = "Here nothing may leave it but what it hands to dist.all_reduce."
    if hidden & large_numbers(printed):
        return (
            "prints-secrets",
            f"has numbers of its value, or its secrets, printed: whoever reads that knows them. {alone}",
        )
    if files:
        return "writes-files", f"opens a file to write: whoever reads that knows what is in it. {alone}"
    if any(_holds(tensor, hidden) for tensor in sent):
        return "sends-secrets", f"sends numbers of its value, or its secrets, to others as they are. {alone}"
    return None


def large_numbers(text: str) -> set[int]:
    """Those in a text: decimal, and hexadecimal with a digit in it, for "added" is a word."""
    decimal = [int(digits) for digits in re.findall(r"(?<![\d.])\d{5,20}(?!\d)", text)]
    words = re.findall(r"(?<![0-9a-z.])(?:0x)?([0-9a-f]{4,16})(?![0-9a-z])", text.lower())
    hexadecimal = [int(word, 16) for word in words if not word.isalpha()]
    return {number for number in (*decimal, *hexadecimal) if number >= LARGE}


def _holds(tensor: Tensor, hidden: Collection[int]) -> bool:
    """Whether it has one of these numbers as an element; or, if it is bytes, as those of a pickle."""
    if tensor.dtype == torch.bool or not hidden:
        return False
    if tensor.dtype == torch.uint8:
        content = bytes(tensor.flatten().tolist())
        return any(number.to_bytes(8, "little").rstrip(b"\0") in content for number in hidden)
    numbers = torch.tensor(sorted(hidden)).to(tensor.dtype)
    return bool(torch.isin(tensor.flatten(), numbers).any())


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


def adds_up(handed: Sequence[Sequence[Tensor]], wanted: Tensor, modulus: int) -> bool | None:
    """Whether what the ranks hand over, each in one tensor, adds up to what is wanted; None of several tensors."""
    if any(len(of_rank) != 1 or of_rank[0].numel() != wanted.numel() for of_rank in handed):
        return None
    total = torch.stack([of_rank[0].flatten().long() % modulus for of_rank in handed]).sum(0)
    return bool((total % modulus == wanted.flatten()).all())


def once_each(own: Tensor, handed: Sequence[Tensor], masks: Sequence[Tensor], modulus: int) -> bool:
    """Whether it is ``own`` with each of the masks added or taken off, in one tensor; true of several, and parts."""
    if len(handed) != 1 or handed[0].numel() != own.numel():
        return True
    added = (handed[0].flatten().long() - own.flatten()) % modulus
    used = (
        sum(s * m.flatten() for s, m in zip(signs, masks, strict=True)) for signs in product((1, -1), repeat=len(masks))
    )
    return any(bool(((added - of) % modulus == 0).all()) for of in used)


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
