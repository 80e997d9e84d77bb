"""What a loop asks of torch, counted below its code: scalars that are read out, and bytes that operations move.

    with Operations() as seen:
        train()
    seen.scalars      .item(), float(x), bool(x), print(x) of one element: each needs the value *now*
    seen.nbytes       bytes that operations read and wrote: each reads its tensors from memory, and writes its result
    seen.number       operations other than views

On a GPU the host launches kernels and goes on; reading a scalar (``aten::_local_scalar_dense``) waits until all that
was launched is done. On the CPU it waits for nothing: so the count is real here, and its price is in ``streams``.

``nbytes`` counts every operation's tensors once, as if each came from memory and went there. That is what large tensors
do; small ones stay in a cache.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

SCALARS = ("aten::_local_scalar_dense",)


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A context that counts what this thread asks of torch, forward and backward."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.scalars = self.nbytes = self.number = 0

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func._schema.name in SCALARS:
            self.scalars += 1
        elif not func.is_view and not _is_allocation(func):
            self.number += 1
            self.nbytes += _bytes(args) + _bytes(kwargs) + _bytes(result)
        return result


def _is_allocation(func: Any) -> bool:
    return str(func._schema.name).startswith(("aten::empty", "aten::detach", "aten::lift"))


def _bytes(values: Any) -> int:
    return sum(t.numel() * t.element_size() for t in tree_leaves(values) if isinstance(t, Tensor))


# ---- one formula, written out and fused


def gelu_written_out(x: Tensor) -> Tensor:
    """0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), operation by operation: each one goes through memory."""
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + torch.tanh(inner))


def gelu_fused(x: Tensor) -> Tensor:
    """The same in one kernel: x is read once, and the result written once."""
    return torch.nn.functional.gelu(x, approximate="tanh")


def graph_breaks(fn: Callable[..., Any], *args: Any) -> list[str]:
    """Why ``torch.compile`` would cut ``fn(*args)`` into several graphs, a reason for each cut. It runs the function,
    and compiles nothing to machine code."""
    import torch._dynamo

    logger = logging.getLogger("torch._dynamo")
    level = logger.level
    logger.setLevel(logging.ERROR)  # it warns of each cut
    try:
        torch._dynamo.reset()
        found = torch._dynamo.explain(fn)(*args)
    finally:
        logger.setLevel(level)
    return [str(reason.reason).splitlines()[0] for reason in found.break_reasons]
