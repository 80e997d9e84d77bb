"""A stand-in for CUDA, so that a script written for GPUs runs unchanged: `lockstep run --pretend-cuda`.

Each rank has one GPU, that of the simulated cluster. Its tensors lie in the host's memory, and the program does not see
that: for its own lines ``x.device`` is "cuda:3" where the program has put x there. torch's own code, which would look
for kernels and allocators of such a device, sees the CPU. What the stand-in does not have it refuses by name.

Read in this order:

    simulation              PretendedSimulation: the run of a job with ``pretend_cuda``
    gpu                     Gpu: one rank's GPU, which one it is, what it is called, what it holds
    gpu_ledger              GpuLedger: which storages are on the GPU, and the bytes of them
    devices_of_tensors      a TorchFunctionMode: `device=`, `.to`, `.cuda`, `x.device`
    streams                 streams and events, in virtual time
    names_of_cuda           the functions of torch.cuda; names_of_accelerator and names_of_nvtx likewise
    refusals                all other names of torch.cuda, and what needs kernels of its own
    devices_of_torchs_own   autocast, GradScaler, DDP, meshes, DataLoader, torch.load
    sharded_attention       DTensor's rules for the attention kernel of the CPU
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType

import torch
import torch.cuda.nvtx

from lockstep.virtual.pretended_cuda import (
    devices_of_torchs_own,
    gpu,
    names_of_accelerator,
    names_of_cuda,
    names_of_nvtx,
    refusals,
    sharded_attention,
    streams,
)
from lockstep.virtual.pretended_cuda.gpu import Gpu


def install(gpus: Sequence[Gpu]) -> None:
    """Put the stand-in in the place of CUDA. Once, in a process of a virtual cluster. ``gpus``: by rank."""
    gpu.own(gpus)
    refusals.install(list(names(names_of_cuda)), list(names(names_of_accelerator)))
    put(names_of_cuda, torch.cuda)
    put(names_of_nvtx, torch.cuda.nvtx)
    put(names_of_accelerator, torch.accelerator)
    devices_of_torchs_own.install()
    sharded_attention.install()


def names(module: ModuleType) -> dict[str, object]:
    """What a module of names gives: its public functions and classes, and those of streams that it has."""
    own = (module.__name__, streams.__name__)
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and value.__module__ in own
    }


def put(given: ModuleType, module: ModuleType) -> None:
    """Put what ``given`` has into the place of what torch has, also where a submodule has it."""
    for name, value in names(given).items():
        was = getattr(module, name, None)
        setattr(module, name, value)
        for part in [m for n, m in list(sys.modules.items()) if n.startswith(f"{module.__name__}.")]:
            if was is not None and getattr(part, name, None) is was:
                setattr(part, name, value)
