"""Messages without data: what the network is handed instead of the tensors of a fake run.

Sizes and dtypes are checked as ever; nothing is copied. Tensors with data, which object collectives send even here,
are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from lockstep.comm.operation import Operation
from lockstep.virtual import movement

Move = Callable[[list[Operation]], None]


class Form:
    """A tensor as the network sees it: numbers of elements, dtype and shape. It keeps the tensor alive as long as the
    operation would."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor
        self.shape, self.dtype = tensor.shape, tensor.dtype

    def numel(self) -> int:
        return self._tensor.numel()

    def view(self, *_: Any) -> Form:
        return self

    def clone(self) -> Form:
        return self

    def copy_(self, _: Any) -> Form:
        return self


def has_data(tensor: torch.Tensor) -> bool:
    """The storage of a fake tensor is on the meta device, and stays there when torch takes the tensor's class away."""
    return tensor.untyped_storage().device.type != "meta"


def form(tensor: torch.Tensor) -> torch.Tensor | Form:
    return tensor if has_data(tensor) else Form(tensor)


def forms(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor | Form]:
    return [form(t) for t in tensors]


def without_data(part: Operation, move: Move) -> Move:
    """Takes the data out of a rank's part of a collective; what ``move`` is then. In all_to_all pieces must fit one by
    one: only the movement itself checks it."""
    outputs, inputs = part.tensors
    part.tensors = forms(outputs), forms(inputs)
    moves = all(not isinstance(t, Form) for ts in part.tensors for t in ts)
    return move if moves or part.kind == "all_to_all" else movement.nothing
