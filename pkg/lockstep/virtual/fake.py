"""A rank without data: ``run(..., fake=True)`` computes shapes, times and memory, and no values.

Each rank runs under its own ``FakeTensorMode``: an operation gives a tensor with a shape, a dtype and a storage of the
right size that is never allocated. The rank's clock and its book of memory are those of a run with data, so that both
kinds of run have the same events, times and peaks; the network moves nothing. (One difference was met: with data, the
scalar that ``mse_loss`` gives keeps the storage of its input's size.)

An operation costs the host about 100 µs, however large its tensors are (2 busy cores: 70 for ``add_``, 170 for ``mm``,
35 for an ``all_reduce`` and a few hundred for each rank that the baton passes; a Linear, forward and backward, 2 ms).
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from lockstep.virtual.clock import Clock
from lockstep.virtual.fake_devices import here
from lockstep.virtual.fake_traffic import Traffic

DEVICE = torch.ops.prim.device.default
EMPTY = torch.ops.aten.empty.memory_format


class FakeClock(Clock):
    """The Clock of a rank without data; within it, ``mode`` makes every new tensor a fake one.

    Dispatch modes are asked from the last entered to the first: the clock sees an operation, then ``mode`` carries it
    out. (torch keeps fake modes below all others, in whichever order they were entered.)"""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.mode: FakeTensorMode = FakeTensorMode(allow_non_fake_inputs=True)
        self.residency.mode = self.mode
        self._traffic = Traffic()

    def __enter__(self) -> FakeClock:
        self.mode.__enter__()
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        super().__exit__(kind, error, tb)  # type: ignore[no-untyped-call]
        self.mode.__exit__(kind, error, tb)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is DEVICE and type(args[0]) is FakeTensor:  # half of all calls, and no work
            return args[0].fake_device
        if kwargs and "device" in kwargs:
            kwargs = {**kwargs, "device": here(kwargs["device"])}
        return super().__torch_dispatch__(func, types, args, kwargs)

    def spend(self, name: str, seconds: float, flops: int) -> None:
        """Let virtual time pass as if the rank computed (replay.py)."""
        self._spend(name, seconds, flops)

    def _carry_out(self, func: Any, args: Any, kwargs: Any) -> Any:
        if func.namespace == "_c10d_functional":
            return self._traffic.carry(func, args, kwargs)
        if func is EMPTY and (kwargs.get("dtype") or torch.float32).is_floating_point:
            with self.mode:  # in force already, except where torch needs data in its integers (fake_torch.py)
                return func(*args, **kwargs)
        return func(*args, **kwargs)
