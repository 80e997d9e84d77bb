"""A run without data: ``run(..., fake=True)`` computes shapes, times and memory, and no values.

Each rank runs under its own ``FakeTensorMode``: an operation returns a tensor with a shape, a dtype and a storage of
the right size that is never allocated. Clock and memory accounting are those of a run with data, so that both kinds of
run have the same events, times and peaks; the network moves nothing. (One known difference: with data, the scalar that
``mse_loss`` returns keeps a storage of its input's size.)

An operation costs the host about 100 µs, however large its tensors are (2 busy cores: 70 for ``add_``, 170 for ``mm``,
35 for an ``all_reduce`` plus a few hundred for each rank that the baton passes; a Linear, forward and backward, 2 ms).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)

from lockstep.comm.operation import Operation
from lockstep.errors import LockstepError
from lockstep.launch.job import import_main
from lockstep.virtual import data_movement, fake_pickling, fake_torch
from lockstep.virtual.clock import Clock
from lockstep.virtual.fake_functional_collectives import Traffic
from lockstep.virtual.fake_torch import here
from lockstep.virtual.simulation import Simulation

DEVICE = torch.ops.prim.device.default
EMPTY = torch.ops.aten.empty.memory_format


class FakeClock(Clock):
    """The Clock of a rank without data; inside it, ``mode`` makes every new tensor a fake one.

    Dispatch modes are called from the innermost to the outermost: the clock sees an operation, then ``mode`` executes
    it. (torch keeps fake modes below all others, whatever the order in which they were entered.)"""

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
        if func is DEVICE and type(args[0]) is FakeTensor:  # half of all calls, and trivial
            return args[0].fake_device
        if kwargs and "device" in kwargs:
            kwargs = {**kwargs, "device": here(kwargs["device"])}
        return super().__torch_dispatch__(func, types, args, kwargs)

    @contextmanager
    def heard_by(self, listener: Callable[[str, float, int], None]) -> Iterator[None]:
        """A context in which ``listener`` is told of each computation, too: its name, seconds and FLOPs (tape.py)."""
        spend = self._spend

        def tell(name: str, seconds: float, flops: int) -> None:
            listener(name, seconds, flops)
            spend(name, seconds, flops)

        self._spend = tell
        try:
            yield
        finally:
            self._spend = spend

    def _carry_out(self, func: Any, args: Any, kwargs: Any) -> Any:
        if func.namespace == "_c10d_functional":
            return self._traffic.carry(func, args, kwargs)
        if func is EMPTY and (kwargs.get("dtype") or torch.float32).is_floating_point:
            with self.mode:  # in force already, except where torch needs data in its integers (fake_torch)
                return func(*args, **kwargs)
        return func(*args, **kwargs)


class FakeSimulation(Simulation):
    """The simulation of ``run(..., fake=True)``. Times and scheduling are those of its base class."""

    def run(self, patience: float) -> Any:
        fake_torch.install()
        return super().run(patience)

    def send(self, operation: Operation) -> None:
        operation.tensors = form(operation.tensors)
        super().send(operation)

    def recv(self, operation: Operation) -> None:
        operation.tensors = form(operation.tensors)
        super().recv(operation)

    def join(self, part: Operation, sequence: int, move: Callable[[list[Operation]], None]) -> None:
        super().join(part, sequence, without_data(part, move))

    def _carry_out(self, me: int) -> bytes:
        clock = FakeClock(*self._clockwork(me))
        fn, args, kwargs = fake_pickling.loads(self.job.blob, clock.mode)
        import_main(fn)
        self._residency[me].adopt((fn, args, kwargs))
        try:
            with clock:
                value = fn(*args, **kwargs)
        except Exception as error:
            raise explained(error) from None
        return fake_pickling.dumps(value)


SIMULATION = FakeSimulation
Move = Callable[[list[Operation]], None]


class Form:
    """A stand-in for a fake tensor in the network: number of elements, dtype and shape. It keeps the tensor alive as
    long as the operation would."""

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
    """Whether a tensor has data. (A fake one's storage is on the meta device, even if torch has stripped its class.)"""
    return tensor.untyped_storage().device.type != "meta"


def form(tensor: torch.Tensor) -> torch.Tensor | Form:
    return tensor if has_data(tensor) else Form(tensor)


def forms(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor | Form]:
    return [form(t) for t in tensors]


def without_data(part: Operation, move: Move) -> Move:
    """Replace the fake tensors of a rank's part of a collective by Forms, and return what is to be executed instead of
    ``move``. An all_to_all is executed even so, since only its data movement checks the sizes of the pieces."""
    outputs, inputs = part.tensors
    part.tensors = forms(outputs), forms(inputs)
    moves = all(not isinstance(t, Form) for ts in part.tensors for t in ts)
    return move if moves or part.kind == "all_to_all" else data_movement.nothing


class NeedsData(LockstepError):
    """A line asked a tensor of a fake run for its values."""

    remedy = (
        "Take the line out, or decide by shapes and ranks; or run it with data: without fake=True, at a small size."
    )


def explained(error: BaseException) -> BaseException:
    """``error``, or a NeedsData in place of torch's errors about missing data, with the same traceback."""
    told = sentence(error)
    return NeedsData(told).with_traceback(error.__traceback__) if told else error


def sentence(error: BaseException) -> str:
    if isinstance(error, DataDependentOutputException):
        name = str(error.func).split(".")[1]
        how = f"torch.{name}" if name != "_local_scalar_dense" else "an `if`, .item(), .tolist(), float() or the like"
        return f"this line needs a tensor's value ({how}), and in a fake run tensors have shapes only."
    if isinstance(error, DynamicOutputShapeException):
        return (
            f"the shape of this result depends on data ({str(error.func).split('.')[1]}: a mask as an index, nonzero, "
            "unique or the like), and in a fake run tensors have shapes only."
        )
    if "not supported for tensor subclasses" in str(error) or "FakeTensor.__format__" in str(error):
        how = ".numpy() or a format like {x:.3f}"
        return f"this line needs a tensor's value ({how}), and in a fake run tensors have shapes only."
    return ""
