"""A run whose ranks each have a stand-in of a GPU: ``lockstep run --pretend-cuda``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from lockstep.virtual import pretended_cuda
from lockstep.virtual.pretended_cuda.devices_of_tensors import DevicesOfTensors
from lockstep.virtual.pretended_cuda.gpu import Gpu
from lockstep.virtual.pretended_cuda.gpu_ledger import GpuLedger
from lockstep.virtual.simulation import Simulation


class PretendedSimulation(Simulation):
    """Times, scheduling and events are those of its base class."""

    book = GpuLedger

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        ledgers = [ledger for ledger in self._residency if isinstance(ledger, GpuLedger)]
        self._gpus = [self._gpu_of(r, ledger) for r, ledger in enumerate(ledgers)]

    def run(self, patience: float) -> Any:
        pretended_cuda.install(self._gpus)
        return super().run(patience)

    def _gpu_of(self, me: int, ledger: GpuLedger) -> Gpu:
        return Gpu(me, self.cluster.device_among(self.ranks, me), ledger, self.scheduler.clock)

    def _devices(self, me: int) -> AbstractContextManager[Any]:
        return DevicesOfTensors(self._gpus[me])


SIMULATION = PretendedSimulation
