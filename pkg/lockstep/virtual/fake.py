"""A rank without data: ``run(..., fake=True)`` computes shapes, times and memory, and no values.

Each rank runs under its own ``FakeTensorMode``: an operation gives a tensor with a shape, a dtype and a storage of the
right size that is never allocated. The rank's clock and its book of memory are those of a run with data, so that both
kinds of run have the same events, times and peaks; the network moves nothing.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from lockstep.virtual.clock import Clock
from lockstep.virtual.fake_traffic import Traffic

ORDINARY = (FakeTensor, torch.Tensor, torch.nn.Parameter)


class FakeClock(Clock):
    """The Clock of a rank without data; within it, ``mode`` makes every new tensor a fake one.

    Dispatch modes are asked from the last entered to the first: the clock sees an operation, then ``mode`` carries it
    out. (torch keeps fake modes below all others, in whichever order they were entered.)"""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        self._traffic = Traffic()

    def __enter__(self) -> FakeClock:
        self.mode.__enter__()
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        super().__exit__(kind, error, tb)  # type: ignore[no-untyped-call]
        self.mode.__exit__(kind, error, tb)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._asks_for_shapes():
            return func(*args, **kwargs)
        if any(t not in ORDINARY for t in types):
            return NotImplemented  # a DTensor or the like: what it does inside comes here again
        if func.namespace == "_c10d_functional":
            out = self._traffic.carry(func, args, kwargs)
            self._residency.note(out)
            return out
        return super().__torch_dispatch__(func, types, args, kwargs)

    def _asks_for_shapes(self) -> bool:
        """Whether torch itself works under a fake mode of its own: DTensor does, to learn an operation's global
        shape. That is no work of the rank."""
        active = active_fake_mode()
        return active is not None and active is not self.mode


def active_fake_mode() -> FakeTensorMode | None:
    mode: FakeTensorMode | None = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE)
    return mode
