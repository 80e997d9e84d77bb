"""How long each tensor operation takes: every torch operation of a rank passes through here and moves its clock.

The time is the roofline of the device (``cost.compute.op_time``): max(FLOPs / peak, bytes / bandwidth) plus the
overhead of a launch. The FLOPs are those of ``cost.flops``, or of a formula that a program has given to torch's own
counter; the bytes are those of all tensors that an operation is given, returns, or writes into without returning them.
Views, empty tensors and tensors without memory (on the "meta" device) cost nothing.

An operation that torch makes of others is charged as these: in ``torch.inference_mode`` it arrives here whole.

A wrapper such as a DTensor is not charged: what it does inside passes through here again. Nor are the questions that
it asks of torch in order to learn a result's global shape (429 GFLOP were counted for 86 with them).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import torch
from torch._C import _dispatch_has_kernel_for_dispatch_key, _get_dispatch_mode, _TorchDispatchModeKey
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from lockstep.cost.compute import op_time
from lockstep.cost.flops import COMPLEX, FORMULAS, Formula
from lockstep.deadlock_report import dtype_name
from lockstep.machines import Device
from lockstep.residency import Residency
from lockstep.residency.leaves import has_memory, tensors_of
from lockstep.virtual.arguments import nbytes
from lockstep.virtual.random_streams import draws

FREE = frozenset(
    {
        "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "detach", "alias", "lift_fresh",
        "_local_scalar_dense", "_unsafe_view", "_reshape_alias", "set_", "resize_", "is_pinned", "is_same_size",
        "as_strided_", "detach_", "squeeze_", "t_", "transpose_", "unsqueeze_", "unsafe_chunk", "unsafe_split",
        "unsafe_split_with_sizes",
    }
)  # fmt: skip

NO_WRAPPERS = (torch.Tensor, torch.nn.Parameter, FakeTensor)
FAKE = _TorchDispatchModeKey.FAKE


class Known(NamedTuple):
    """What there is to know of an operation of torch before it is carried out."""

    func: Any
    name: str
    free: bool
    draws: bool
    composite: bool  # torch knows how to make it of others
    flops: Formula | None
    writes: tuple[int, ...]  # places of the arguments that it writes into and does not return


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
        self._device, self.residency, self._spend, self._claim = device, residency, spend, claim

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        active = _get_dispatch_mode(FAKE)
        if active is not None and active is not self.mode:  # torch asks for shapes under a fake mode of its own
            return func(*args, **kwargs)
        if types and any(t not in NO_WRAPPERS for t in types):
            self.residency.foresee(func, args)
            return NotImplemented
        known = self._known.get(id(func)) or self._learn(func)
        if known.composite:
            with self:
                return func.decompose(*args, **kwargs)
        if known.draws:
            self._claim()
        out = self._carry_out(func, args, kwargs)
        if not known.free:
            self._charge(known, args, kwargs, out)
        self.residency.see(func, args, out)
        return out

    def _carry_out(self, func: Any, args: Any, kwargs: Any) -> Any:
        return func(*args, **kwargs)

    def _learn(self, func: Any) -> Known:
        known = self._known[id(func)] = Known(
            func, name_of(func), is_free(func), draws(func), is_composite(func), formula_of(func), written(func)
        )
        return known

    def _charge(self, known: Known, args: Any, kwargs: Any, out: Any) -> None:
        tensors = tensors_of((args, out))
        if tensors and not has_memory(tensors[0], self.mode):
            return
        moved = sum(map(nbytes, tensors))
        if known.writes:
            moved += sum(map(nbytes, tensors_of(args[i] for i in known.writes if i < len(args))))
        flops = 0
        if known.flops:
            flops = int(known.flops(in_order(known.func, args, kwargs) if kwargs else args, out))
            if tensors[0].is_complex():
                flops *= COMPLEX
        dtype = dtype_name(tensors[0].dtype) if tensors else "float32"
        self._spend(known.name, op_time(self._device, flops, moved, dtype), flops)


def name_of(func: Any) -> str:
    return str(func._schema.name.split("::")[-1])


def is_free(func: Any) -> bool:
    """Whether an operation does no work on the device: a view, a size, an empty tensor; communication is booked
    by the network. Of an operation that is not torch's own we know nothing, unless its formula was registered."""
    if func.namespace != "aten":
        return func._overloadpacket not in flop_registry
    return getattr(func, "is_view", False) or name_of(func) in FREE


def is_composite(func: Any) -> bool:
    """Whether torch would have made it of others, had it been for autograd (below which it asks here)."""
    name, key = func.name(), "CompositeImplicitAutograd"
    return func.namespace == "aten" and not is_free(func) and _dispatch_has_kernel_for_dispatch_key(name, key)


def formula_of(func: Any) -> Formula | None:
    """Ours, or what a program has told torch (``register_flop_formula``)."""
    given = flop_registry.get(func._overloadpacket)
    if func.namespace == "aten" and (ours := FORMULAS.get(name_of(func))):
        return ours
    return given and (lambda args, out: given(*args, out_val=out))


def written(func: Any) -> tuple[int, ...]:
    """An operation on many tensors at once (``_foreach_add_``, ``_fused_adam_``) returns nothing."""
    if func._schema.returns:
        return ()
    return tuple(i for i, a in enumerate(func._schema.arguments) if a.alias_info and a.alias_info.is_write)


def in_order(func: Any, args: Any, kwargs: Any) -> Any:
    """All arguments of an operation that has been given some by name."""
    rest = func._schema.arguments[len(args) :]
    return (*args, *(kwargs.get(a.name, a.default_value) for a in rest))
