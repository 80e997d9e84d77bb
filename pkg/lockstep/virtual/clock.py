"""How long each tensor operation takes: every torch operation of a rank passes through here and moves its clock.

The time is the roofline of the device (``cost.compute.op_time``): max(FLOPs / peak, bytes / bandwidth) plus the
overhead of a launch. Views and empty tensors cost nothing.

A wrapper such as a DTensor is not charged: what it does inside passes through here again. Nor are the questions that
it asks of torch in order to learn a result's global shape (429 GFLOP were counted for 86 with them).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import torch
from torch._C import _get_dispatch_mode, _TorchDispatchModeKey
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from lockstep.cost.compute import op_time
from lockstep.explain import dtype_name
from lockstep.machines import Device
from lockstep.residency import Residency
from lockstep.residency.leaves import tensors_of
from lockstep.virtual.arguments import nbytes
from lockstep.virtual.streams import draws

FREE = frozenset(
    {"empty", "empty_like", "empty_strided", "new_empty", "detach", "alias", "lift_fresh", "_local_scalar_dense"}
)

NO_WRAPPERS = (torch.Tensor, torch.nn.Parameter, FakeTensor)
FAKE = _TorchDispatchModeKey.FAKE


class Known(NamedTuple):
    """What there is to know of an operation of torch before it is carried out."""

    func: Any
    name: str
    free: bool
    draws: bool
    flops: Callable[..., int] | None


class Clock(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Charges ``spend(name, seconds, flops)`` for each operation, and keeps book of the tensors that are alive.
    ``claim``: called before an operation that draws random numbers.
    ``mode``: the fake mode that the rank itself runs under, if its tensors have no data (fake.py)."""

    mode: FakeTensorMode | None = None
    _known: ClassVar[dict[int, Known]] = {}  # all ranks'; by id: hashing an operation takes longer than charging for it

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """torch.compile does not look into programs under a mode anyway: torch need not guard each operation."""
        return False

    def __init__(
        self, device: Device, residency: Residency, spend: Callable[[str, float, int], None], claim: Callable[[], None]
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._device, self._residency, self._spend, self._claim = device, residency, spend, claim

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        active = _get_dispatch_mode(FAKE)
        if active is not None and active is not self.mode:  # torch asks for shapes under a fake mode of its own
            return func(*args, **kwargs)
        if types and any(t not in NO_WRAPPERS for t in types):
            self._residency.foresee(func, args)
            return NotImplemented
        known = self._known.get(id(func)) or self._learn(func)
        if known.draws:
            self._claim()
        out = self._carry_out(func, args, kwargs)
        if not known.free:
            self._charge(known, args, kwargs, out)
        self._residency.see(func, args, out)
        return out

    def _carry_out(self, func: Any, args: Any, kwargs: Any) -> Any:
        return func(*args, **kwargs)

    def _learn(self, func: Any) -> Known:
        name = func._schema.name.split("::")[-1]
        flops = flop_registry.get(func._overloadpacket)
        known = self._known[id(func)] = Known(func, name, is_free(func), draws(func), flops)
        return known

    def _charge(self, known: Known, args: Any, kwargs: Any, out: Any) -> None:
        flops = int(known.flops(*args, **kwargs, out_val=out)) if known.flops else 0
        tensors = tensors_of((args, out))
        moved = sum(map(nbytes, tensors))
        dtype = dtype_name(tensors[0].dtype) if tensors else "float32"
        self._spend(known.name, op_time(self._device, flops, moved, dtype), flops)


def is_free(func: Any) -> bool:
    """Whether an operation does no work on the device: a view, a size, an empty tensor; communication is booked
    by the network."""
    name = func._schema.name.split("::")[-1]
    return func.namespace != "aten" or getattr(func, "is_view", False) or name in FREE
