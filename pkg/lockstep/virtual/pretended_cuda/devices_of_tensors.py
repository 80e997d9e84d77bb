"""Where a program's tensors are: ``device=``, ``.to``, ``.cuda`` and ``x.device``, in a rank's thread.

A TorchFunctionMode sees each call of torch. It puts "cpu" in the place of "cuda", notes what went to the GPU, and gives
the program's own lines "cuda:3" for the device of what is there. torch's own code asks ``x.device`` to choose kernels
and streams, and is told the truth. A copy from the host to the GPU is a copy, as it is on a real one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.modules.module as of_modules
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from lockstep.residency.nested_tensors import wrapped
from lockstep.virtual.pretended_cuda.gpu import Gpu, as_device, is_cuda, on_host

NOT_THE_PROGRAM = (f"{Path(str(torch.__file__)).parent}/", f"{Path(__file__).parents[2]}/")  # torch and lockstep
FSDP = f"{NOT_THE_PROGRAM[0]}distributed/fsdp/"  # its files allocate what it gathers into on the mesh's device
OVERRIDES = str(torch.overrides.__file__)
FACTORIES = frozenset(_device_constructors())
MAY_ALIAS = (torch.as_tensor, torch.asarray)
Handler = Callable[[Any, Any, dict[str, Any], str], Any]


class DevicesOfTensors(TorchFunctionMode):
    """The mode of one rank."""

    def __init__(self, gpu: Gpu) -> None:
        super().__init__()
        self._gpu, self._ledger = gpu, gpu.ledger
        tensor: Any = torch.Tensor
        self._handlers: dict[Any, Handler] = {
            tensor.device.__get__: self._device,
            tensor.is_cuda.__get__: self._is_cuda,
            tensor.is_cpu.__get__: self._is_cpu,
            tensor.get_device: self._get_device,
            tensor.to: self._to,
            tensor.cuda: self._cuda,
            tensor.cpu: self._cpu,
            tensor.numpy: self._numpy,
            tensor.__array__: self._numpy,
            tensor.pin_memory: self._pin_memory,
            tensor.__deepcopy__: self._deepcopy,
            tensor.type: self._type,
            torch._C._nn._parse_to: self._parse_to,
            torch.device: self._number,
        }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if handler := self._handlers.get(func):
            return handler(func, args, kwargs, caller())
        kwargs.pop("pin_memory", None)
        if func in FACTORIES:
            return self._make(func, args, kwargs)
        if kwargs.get("device") is not None:
            return self._on(func, args, kwargs, kwargs["device"])
        return func(*args, **kwargs)

    # ---- new tensors

    def _make(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        device = kwargs.get("device")
        if device is None and self._gpu.default is not None:
            device = self._gpu.default
        if device is not None:
            return self._on(func, args, kwargs, device)
        made = func(*args, **kwargs)
        if isinstance(made, torch.Tensor) and is_programs(caller()) and not (args and made is args[0]):
            self._ledger.put(made, False)
        return made

    def _on(self, func: Any, args: Any, kwargs: dict[str, Any], device: Any) -> Any:
        """``func`` with ``device=device``."""
        there = is_cuda(device)
        if there:
            self._gpu.place(device)
        made = func(*args, **{**kwargs, "device": on_host(device)})
        if not isinstance(made, torch.Tensor):
            return made
        if not there:
            by = caller()
            if by.startswith(FSDP) and torch.device(device).type == "cpu":
                there = True
            elif not is_programs(by):
                return made
        if there and func in MAY_ALIAS and not self._ledger.has(made):
            made = made.clone()
        self._ledger.put(made, there)
        return made

    # ---- from here to there

    def _to(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        tensor, *rest = args
        wanted = rest[0] if rest and not isinstance(rest[0], torch.dtype) else kwargs.get("device")
        other = wanted if isinstance(wanted, torch.Tensor) else kwargs.get("other")
        if other is not None:
            where = torch.device("cuda") if self._ledger.has(other) else other.device
        elif wanted is None:
            return func(*args, **kwargs)
        else:
            where = as_device(wanted)
        if rest and rest[0] is wanted and other is None:
            rest[0] = on_host(where)
        elif "device" in kwargs:
            kwargs["device"] = on_host(where)
        if where.type == "cuda":
            return self._moved(tensor, func(tensor, *rest, **kwargs), self._on_own(where))
        moved = func(tensor, *rest, **kwargs)
        says = where.type == "cpu" and (is_programs(by) or by == of_modules.__file__)
        return self._moved(tensor, moved, False) if says else moved

    def _on_own(self, device: Any) -> bool:
        return bool(self._gpu.place(device))

    def _moved(self, tensor: torch.Tensor, moved: torch.Tensor, to_gpu: bool) -> torch.Tensor:
        """``moved`` is what torch has made of ``tensor``: on a CPU that may be the tensor itself."""
        if tensor.is_meta or self._ledger.has(tensor) == to_gpu:
            self._ledger.put(moved, to_gpu)
            return moved
        if moved is tensor or shares_storage(moved, tensor):
            moved = moved.clone()
        self._ledger.put(moved, to_gpu)
        return moved

    def _cuda(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        device = args[1] if len(args) > 1 else kwargs.get("device")
        return self._moved(args[0], args[0], self._on_own(device))

    def _cpu(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        return self._moved(args[0], func(*args, **kwargs), False)

    def _parse_to(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        """What ``Module.to`` reads its arguments with: cuda stays cuda, which ``Tensor.to`` is then told."""
        first = [as_device(a) if i == 0 and type(a) is int else a for i, a in enumerate(args)]
        if type(kwargs.get("device")) is int:
            kwargs["device"] = as_device(kwargs["device"])
        return func(*first, **kwargs)

    def _number(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        """``torch.device(3)`` is a GPU where there are any."""
        return as_device(args[0]) if args and not kwargs and len(args) == 1 else func(*args, **kwargs)

    def _pin_memory(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        return args[0].clone()

    def _deepcopy(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        copied = func(*args, **kwargs)
        self._ledger.put(copied, self._ledger.has(args[0]))
        return copied

    # ---- what a program asks

    def _device(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        tensor = args[0]
        return self._gpu.home() if is_programs(by) and self._ledger.has(tensor) else func(tensor)

    def _is_cuda(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> bool:
        return is_programs(by) and self._ledger.has(args[0])

    def _is_cpu(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> bool:
        return bool(func(args[0])) and not self._is_cuda(func, args, kwargs, by)

    def _get_device(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> int:
        return self._gpu.home().index if self._is_cuda(func, args, kwargs, by) else int(func(args[0]))

    def _type(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        """ "torch.cuda.FloatTensor", or a conversion to the type that is given."""
        called = func(*args, **kwargs)
        asked = isinstance(called, str) and self._is_cuda(func, args, kwargs, by)
        return called.replace("torch.", "torch.cuda.") if asked else called

    def _numpy(self, func: Any, args: Any, kwargs: dict[str, Any], by: str) -> Any:
        """As torch: NumPy cannot read a GPU's memory."""
        if self._is_cuda(func, args, kwargs, by):
            raise TypeError(
                f"can't convert {self._gpu.home()} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
                "host memory first."
            )
        return func(*args, **kwargs)


def caller() -> str:
    """The file of the code that has called torch."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename in (OVERRIDES, __file__):
        python_function = frame.f_code.co_filename == OVERRIDES  # called handle_torch_function
        frame = frame.f_back
        if python_function:
            frame = frame.f_back
    return str(frame.f_code.co_filename)


def shares_storage(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two plain tensors have one storage. A sparse tensor has none, nor has a wrapper."""
    if wrapped(one) or one.layout is not torch.strided or other.layout is not torch.strided:
        return False
    return bool(one.untyped_storage()._cdata == other.untyped_storage()._cdata)


def is_programs(file: str) -> bool:
    """Whether a file is the program's, or a package's that the program uses: not torch's own."""
    return not file.startswith(NOT_THE_PROGRAM)
