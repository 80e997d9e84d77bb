"""The parts of torch that are told a device by name and hand it to C++, or choose by it what they do: for "cuda" they
get "cpu". Tensors that they are given, and make, are on the CPU for them anyway (``devices_of_tensors``).
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.utils.cpp_extension
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.nn.parallel import DistributedDataParallel
from torch.serialization import register_package
from torch.utils.data import DataLoader

from lockstep.errors import UsageError
from lockstep.virtual.pretended_cuda.devices_of_tensors import is_programs
from lockstep.virtual.pretended_cuda.gpu import is_cuda, mine, on_host

AUTOCAST = ("is_autocast_enabled", "get_autocast_dtype", "set_autocast_enabled", "set_autocast_dtype")
PRIORITY = 5  # among those who are asked where a storage is: before the CPU, which is 10


def install() -> None:
    """Once, in a process of a virtual cluster."""
    replace(torch.autocast, "__init__", autocast)
    replace(torch.amp.GradScaler, "__init__", grad_scaler)
    replace(DistributedDataParallel, "__init__", data_parallel)
    replace(FullyShardedDataParallel, "__init__", fully_sharded)
    replace(DataLoader, "__init__", data_loader)
    replace(DeviceMesh, "__init__", mesh)
    register_package(PRIORITY, tag_of, restored)
    replace(torch.Tensor, "record_stream", record_stream)
    shown_device_type()
    for name in ("compile", "set_default_device", "get_default_device"):
        replace(torch, name, globals()[name])
    for name in AUTOCAST:
        replace(torch, name, of_autocast)
    for name in ("load", "load_inline", "CUDAExtension"):
        replace(torch.utils.cpp_extension, name, extension)


def replace(owner: Any, name: str, by: Callable[..., Any]) -> None:
    """Replace a function of torch by one that is given it as its first argument."""
    real = getattr(owner, name)

    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        return by(real, *args, **kwargs)

    setattr(owner, name, call)


# ---- mixed precision


def autocast(init: Any, self: Any, device_type: str, dtype: Any = None, *rest: Any, **kwargs: Any) -> None:
    """A GPU's default dtype is float16, the CPU's bfloat16."""
    if is_cuda(device_type):
        device_type, dtype = "cpu", dtype or torch.float16
    init(self, device_type, dtype, *rest, **kwargs)


def grad_scaler(init: Any, self: Any, device: Any = "cuda", *args: Any, **kwargs: Any) -> None:
    init(self, on_host(device).type if is_cuda(device) else device, *args, **kwargs)


def of_autocast(real: Any, device_type: str = "cuda", *args: Any) -> Any:
    """A function of autocast's state, whose first argument is a kind of device."""
    return real("cpu" if is_cuda(device_type) else device_type, *args)


# ---- wrappers


def data_parallel(init: Any, self: Any, module: Any, *args: Any, **kwargs: Any) -> None:
    """DDP's ``device_ids`` and ``output_device`` have one GPU, to which inputs are moved: they are there."""
    given = inspect.signature(init).bind(self, module, *args, **kwargs).arguments
    for named in (given.pop("device_ids", None), given.pop("output_device", None)):
        for device in named if isinstance(named, list | tuple) else [named]:
            if device is not None:
                mine().place(device)
    init(**given)


def fully_sharded(init: Any, self: Any, module: Any, *args: Any, **kwargs: Any) -> None:
    """FSDP1, which looks for a GPU unless it is told that there is the CPU, moves its module to ``device_id``."""
    given = inspect.signature(init).bind(self, module, *args, **kwargs).arguments
    device = given.pop("device_id", None)
    if device is not None and is_cuda(device) and not any(p.is_meta for p in module.parameters()):
        module.to(mine().place(device))
    init(**given, device_id=torch.device("cpu"))


def data_loader(init: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    """Its batches are not pinned, which only the speed of a copy shows."""
    given = inspect.signature(init).bind(self, *args, **kwargs).arguments
    init(**given | {"pin_memory": False, "pin_memory_device": ""})


def mesh(init: Any, self: Any, device_type: str, *args: Any, **kwargs: Any) -> None:
    """A mesh of GPUs is one of CPUs, which calls itself "cuda" to the program. As torch's own, it chooses this rank's
    GPU where the program has not."""
    pretended = device_type == "cuda"
    if pretended and not mine().chosen:
        mine().choose(mine().home())
    init(self, "cpu" if pretended else device_type, *args, **kwargs)


def shown_device_type() -> None:
    """``DeviceMesh.device_type`` is "cuda" for the program."""
    real: Any = DeviceMesh.device_type

    def device_type(self: Any) -> str:
        kind = str(real.fget(self))
        return "cuda" if kind == "cpu" and is_programs(sys._getframe(1).f_code.co_filename) else kind

    DeviceMesh.device_type = property(device_type)  # type: ignore[method-assign,assignment]


# ---- functions


def record_stream(real: Any, tensor: torch.Tensor, stream: Any) -> None:
    """``Tensor.record_stream``: all streams are one, and memory is in use until it is freed."""


def tag_of(storage: Any) -> str | None:
    """What ``torch.save`` writes of a storage's place: "cuda:1", or nothing, which leaves it to the CPU's tag."""
    return str(mine().home()) if mine().ledger.has(over(storage)) else None


def restored(storage: Any, location: str) -> Any:
    """``torch.load`` has read a storage that is to be at ``location``; None leaves it to others. One of another rank's
    GPU, which torch.load without ``map_location`` asks for, is put on this rank's."""
    if not is_cuda(location):
        return None
    mine().ledger.put(over(storage), True)
    return storage


def over(storage: Any) -> torch.Tensor:
    """A tensor of a whole storage."""
    return torch.tensor([], dtype=torch.uint8).set_(getattr(storage, "_untyped_storage", storage))


def set_default_device(real: Any, device: Any) -> None:
    """torch's own adds ``device=`` below the mode that takes it away."""
    on_gpu = device is not None and is_cuda(device)
    mine().default = torch.device(device) if on_gpu else None
    real(None if on_gpu else device)


def get_default_device(real: Any) -> torch.device:
    default = mine().default
    return real() if default is None else torch.device("cuda", mine().number(default))


def compile(real: Any, model: Any = None, *, backend: Any = "inductor", **kwargs: Any) -> Any:
    """``torch.compile``. Raises UsageError for the backend that makes Triton kernels of a program."""
    if backend == "inductor" and is_programs(sys._getframe(2).f_code.co_filename):
        raise UsageError(
            "torch.compile makes kernels for a GPU, and --pretend-cuda has none.",
            'Leave it out here, as by --compile=False, or give it backend="eager".',
        )
    return real(model, backend=backend, **kwargs)


def extension(real: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """``torch.utils.cpp_extension``. Raises UsageError for CUDA's sources."""
    sources = [kwargs.get("sources"), *args]
    named = [one for some in sources for one in (some if isinstance(some, list | tuple) else [some])]
    if real.__name__ == "CUDAExtension" or kwargs.get("cuda_sources") or any(str(one).endswith(".cu") for one in named):
        raise UsageError(f"{name}: kernels in CUDA C++ need a GPU, and --pretend-cuda has none.", "Leave it out here.")
    return real(name, *args, **kwargs)
