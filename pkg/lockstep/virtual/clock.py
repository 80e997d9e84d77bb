"""Virtual compute time: a dispatch mode that charges a rank's clock for every torch operation.

The time follows the roofline model of the device (``cost.operations.op_time``): max(FLOPs / peak, bytes / bandwidth)
plus the launch overhead. The FLOPs come from ``cost.operations.FORMULAS``, or from a formula that a program has
registered with torch's FLOP counter; the bytes are those of all tensors that an operation reads, returns, or writes
without returning them. Views, empty tensors and tensors without memory (on the "meta" device) cost nothing.

A composite operation is charged as the operations that it consists of: in ``torch.inference_mode`` it arrives here
undecomposed.

A wrapper such as a DTensor is not charged: its local operations pass through here again. Neither are the operations
under a fake mode by which it infers a result's global shape (with them, 429 GFLOP were counted instead of 86).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import torch
from torch._C import _dispatch_has_kernel_for_dispatch_key, _get_dispatch_mode, _TorchDispatchModeKey
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from lockstep.cost.operations import COMPLEX, FORMULAS, Formula, op_time
from lockstep.deadlock_report import dtype_name
from lockstep.machines import Device
from lockstep.residency import Residency
from lockstep.residency.nested_tensors import has_memory, tensors_of
from lockstep.virtual.data_movement import nbytes
from lockstep.virtual.in_flight import Flights
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
    """The properties of a torch operation that do not depend on its arguments."""

    func: Any
    name: str
    free: bool
    draws: bool
    composite: bool  # torch can decompose it
    flops: Formula | None
    writes: tuple[int, ...]  # indices of arguments that it writes and does not return
    touches: bool  # it reads or writes the data of its arguments
    alters: tuple[int | str, ...]  # indices and names of arguments that it writes

    def altered(self, args: Any, kwargs: Any) -> list[Any]:
        """The arguments of a call that it writes."""
        named = [kwargs[a] for a in self.alters if a in kwargs]
        return [*named, *(args[a] for a in self.alters if isinstance(a, int) and a < len(args))]


class Clock(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Calls ``spend(name, seconds, flops)`` for each operation, and accounts for the tensors that are alive.
    ``claim``: called before an operation that draws random numbers. ``flights``: the rank's buffers in flight.
    ``mode``: the fake mode of a rank whose tensors have no data (fake_simulation.py)."""

    mode: FakeTensorMode | None = None
    _known: ClassVar[dict[int, Known]] = {}  # of all ranks; by id: hashing an operation takes longer than charging it

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """True would make torch guard each operation; torch.compile does not trace programs under a mode anyway."""
        return False

    def __init__(
        self,
        device: Device,
        residency: Residency,
        spend: Callable[[str, float, int], None],
        claim: Callable[[], None],
        flights: Flights,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._device, self.residency, self._spend, self._claim = device, residency, spend, claim
        self._flights = flights

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
        if self._flights and known.touches:
            self._flights.look((*args, *kwargs.values()), known.altered(args, kwargs))
        out = self._carry_out(func, args, kwargs)
        if not known.free:
            self._charge(known, args, kwargs, out)
        self.residency.see(func, args, out)
        return out

    def _carry_out(self, func: Any, args: Any, kwargs: Any) -> Any:
        return func(*args, **kwargs)

    def _learn(self, func: Any) -> Known:
        known = self._known[id(func)] = Known(
            func, name_of(func), is_free(func), draws(func), is_composite(func), formula_of(func), written(func),
            touches(func), alters(func),
        )  # fmt: skip
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
    """Whether an operation does no work on the device: a view, a size, an empty tensor; the network charges for
    communication. An operation that is not torch's own is free, unless a FLOP formula was registered for it."""
    if func.namespace != "aten":
        return func._overloadpacket not in flop_registry
    return getattr(func, "is_view", False) or name_of(func) in FREE


def touches(func: Any) -> bool:
    """Whether an operation reads or writes data of its arguments; a view, say, does not."""
    return not is_free(func) or name_of(func) == "_local_scalar_dense"


def alters(func: Any) -> tuple[int | str, ...]:
    """The arguments that an operation writes: their indices, and names if they are given by name."""
    arguments = enumerate(func._schema.arguments)
    return tuple(a.name if a.kwarg_only else i for i, a in arguments if a.alias_info and a.alias_info.is_write)


def is_composite(func: Any) -> bool:
    """Whether torch decomposes it above autograd, that is, before this mode usually sees it."""
    name, key = func.name(), "CompositeImplicitAutograd"
    return func.namespace == "aten" and not is_free(func) and _dispatch_has_kernel_for_dispatch_key(name, key)


def formula_of(func: Any) -> Formula | None:
    """Our FLOP formula, or the one that a program has registered with torch (``register_flop_formula``)."""
    given = flop_registry.get(func._overloadpacket)
    if func.namespace == "aten" and (ours := FORMULAS.get(name_of(func))):
        return ours
    return given and (lambda args, out: given(*args, out_val=out))


def written(func: Any) -> tuple[int, ...]:
    """The indices of arguments that are written, for operations that return nothing (``_foreach_add_``,
    ``_fused_adam_``)."""
    if func._schema.returns:
        return ()
    return tuple(i for i, a in enumerate(func._schema.arguments) if a.alias_info and a.alias_info.is_write)


def in_order(func: Any, args: Any, kwargs: Any) -> Any:
    """All arguments of an operation, keyword arguments included, in the order of its schema."""
    rest = func._schema.arguments[len(args) :]
    return (*args, *(kwargs.get(a.name, a.default_value) for a in rest))
