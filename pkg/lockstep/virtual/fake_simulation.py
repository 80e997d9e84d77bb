"""A run on the virtual cluster without data: the Simulation, with ranks that know shapes only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lockstep.comm.operation import Operation
from lockstep.launch.job import import_main
from lockstep.virtual import fake_torch, fake_values
from lockstep.virtual.fake import FakeClock
from lockstep.virtual.fake_errors import explained
from lockstep.virtual.fake_movement import form, without_data
from lockstep.virtual.simulation import Simulation


class FakeSimulation(Simulation):
    """``run(..., fake=True)``. Everything that takes virtual time is the Simulation's own."""

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
        fn, args, kwargs = fake_values.loads(self.job.blob, clock.mode)
        import_main(fn)
        self._residency[me].adopt((fn, args, kwargs))
        try:
            with clock:
                value = fn(*args, **kwargs)
        except Exception as error:
            raise explained(error) from None
        return fake_values.dumps(value)
