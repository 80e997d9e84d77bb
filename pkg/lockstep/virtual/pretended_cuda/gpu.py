"""The GPU of one rank, as far as a program can ask for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from lockstep.errors import UsageError
from lockstep.machines import Device
from lockstep.virtual.pretended_cuda.gpu_ledger import GpuLedger
from lockstep.virtual.rank_threads import owner

# By the name of a Device. Source: NVIDIA, "CUDA GPU Compute Capability" (developer.nvidia.com/cuda/gpus).
CAPABILITIES = {
    "V100 SXM2 32GB": (7, 0),
    "A100 SXM 80GB": (8, 0),
    "H100 SXM 80GB": (9, 0),
    "H200 SXM 141GB": (9, 0),
    "B200 SXM 180GB": (10, 0),
}

_gpus: list[Gpu] = []  # by rank, in a process of a virtual cluster


@dataclass
class Gpu:
    """``clock``: virtual seconds of all ranks. ``current``: what ``torch.cuda.set_device`` has chosen, at first 0 as
    in every process; ``default``: what ``torch.set_default_device`` has."""

    rank: int
    device: Device
    ledger: GpuLedger
    clock: Sequence[float]
    current: int = 0
    chosen: bool = False  # by the program; a mesh chooses otherwise
    default: torch.device | None = None
    streams: list[Any] = field(default_factory=list)  # the default one, and those entered: the current one is the last

    @property
    def now(self) -> float:
        return self.clock[self.rank]

    @property
    def capability(self) -> tuple[int, int]:
        """Major and minor. Raises UsageError for a GPU that is not NVIDIA's."""
        if self.device.name not in CAPABILITIES:
            raise UsageError(
                f"The compute capability of {self.device.name} is not known here.", "Leave the question out there."
            )
        return CAPABILITIES[self.device.name]

    def visible(self) -> list[int]:
        """The numbers in this node of the GPUs that the program sees."""
        given = os.environ.get("CUDA_VISIBLE_DEVICES")
        if given is None:
            return list(range(int(os.environ["LOCAL_WORLD_SIZE"])))
        return [int(number) for number in given.split(",") if number.strip().isdigit()]

    def number(self, device: Any) -> int:
        """The index that ``device`` means: None, 3, "cuda:3" or a torch.device. Raises UsageError where there is no
        such GPU."""
        asked = None if device is None else as_device(device)
        index = self.current if asked is None or asked.index is None else asked.index
        count = len(self.visible())
        if index not in range(count):
            raise UsageError(
                f"cuda:{index} was asked for, and this rank sees {count} GPU{'s' * (count != 1)}.",
                "On the virtual cluster a node has as many as it has ranks of this run.",
            )
        return index

    def place(self, device: Any) -> torch.device:
        """Where a tensor goes that the program puts on ``device``. Raises UsageError for another rank's GPU."""
        index, local = self.number(device), int(os.environ["LOCAL_RANK"])
        if self.visible()[index] != local:
            raise UsageError(
                f"This rank puts a tensor on cuda:{index}, but its own GPU is cuda:{local}: each rank has one.",
                'Call torch.cuda.set_device(int(os.environ["LOCAL_RANK"])) before, or name that device.',
            )
        return torch.device("cuda", index)

    def choose(self, device: Any) -> None:
        """``torch.cuda.set_device``, which ignores a negative index."""
        if type(device) is int and device < 0:
            return
        self.current, self.chosen = self.number(device), True

    def is_own(self, device: Any) -> bool:
        """Whether ``device`` is this rank's GPU. Of others it has no memory."""
        return self.visible()[self.number(device)] == int(os.environ["LOCAL_RANK"])

    def home(self) -> torch.device:
        """This rank's own GPU, as the program names it."""
        local = int(os.environ["LOCAL_RANK"])
        return torch.device("cuda", self.visible().index(local))


def own(gpus: Sequence[Gpu]) -> None:
    """These are the GPUs of the ranks of this process."""
    _gpus[:] = gpus


def mine() -> Gpu:
    """The GPU of the calling thread's rank."""
    return _gpus[owner() or 0]


def as_device(device: Any) -> torch.device:
    """``device`` as torch reads it: 3 is "cuda:3"."""
    return torch.device("cuda", device) if type(device) is int else torch.device(device)


def is_cuda(device: Any) -> bool:
    """Whether ``device``, in any way of writing it, is a GPU."""
    if isinstance(device, torch.device):
        return device.type == "cuda"
    if isinstance(device, str):
        return device.partition(":")[0] == "cuda"
    return type(device) is int


def on_host(device: Any) -> Any:
    """``device``, and "cpu" in place of a GPU."""
    return torch.device("cpu") if is_cuda(device) else device
