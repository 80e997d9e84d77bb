"""What the stand-in does not have: refused by name, in one sentence, where it is called and not before.

Any public name of torch.cuda that ``names_of_cuda`` lacks, and what makes or brings kernels of its own, which no
CPU can execute: CUDA graphs, Triton, .cu files, flash_attn, and torch.compile by its default backend.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from types import FrameType, ModuleType
from typing import Any

import torch

from lockstep.errors import UsageError

BRING_KERNELS = ("triton", "flash_attn", "transformer_engine")
RECORDS = {"CUDAGraph", "graph", "graph_pool_handle", "make_graphed_callables", "Graph"}  # of kernels
REMEDY = "docs/scripts.md lists what --pretend-cuda has; call this only on a real GPU."
KEPT = {  # constants, types of errors, and modules that are asked for below, or that only call what is replaced
    "CudaError", "DeferredCudaCallError", "amp", "default_generators", "graphs", "has_half", "has_magma", "nccl",
    "memory", "nvtx", "profiler", "random", "sparse", "streams", "tunable", "jiterator",
}  # fmt: skip
PARTS = ("memory", "random", "streams", "graphs", "nccl", "profiler", "tunable", "gds", "jiterator", "green_contexts")
PRIVATE = ("_record_memory_history", "_dump_snapshot", "_snapshot")  # of torch.cuda.memory: PyTorch's pages name them


def install(has: Sequence[str], accelerator_has: Sequence[str]) -> None:
    """Refuse all but what the stand-in ``has``. Once, in a process of a virtual cluster."""
    of_cuda = [name for name in torch.cuda.__all__ if name not in has and name not in KEPT]
    for name in of_cuda:
        refuse(torch.cuda, name, "torch.cuda")
    for part in PARTS:
        module = getattr(torch.cuda, part)
        for name in public_functions(module) | {n for n in PRIVATE if hasattr(module, n)}:
            if name not in has:
                refuse(module, name, "torch.cuda" if name in of_cuda else f"torch.cuda.{part}")
    for name in torch.accelerator.__all__:
        if name not in accelerator_has and name != "graphs":
            refuse(torch.accelerator, name, "torch.accelerator")
    sys.meta_path.append(BringsKernels())


def public_functions(module: ModuleType) -> set[str]:
    """What a module defines for others to call."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", "") == module.__name__
    }


def refuse(module: Any, name: str, of: str) -> None:
    was = getattr(module, name)
    if isinstance(was, type) and issubclass(was, BaseException):
        return
    refused = a_class(name, of) if isinstance(was, type) else a_function(name, of)
    setattr(module, name, refused)


def refusal(name: str, of: str) -> UsageError:
    if name in RECORDS:
        return UsageError(f"{of}.{name}: a CUDA graph records kernels, and --pretend-cuda has none.", REMEDY)
    return UsageError(f"{of}.{name} is not in the stand-in of --pretend-cuda.", REMEDY)


def a_function(name: str, of: str) -> Callable[..., Any]:
    def refused(*args: Any, **kwargs: Any) -> Any:
        raise refusal(name, of)

    refused.__name__ = refused.__qualname__ = name
    return refused


def a_class(name: str, of: str) -> type:
    """A class of which nothing is an instance: ``isinstance(x, torch.cuda.FloatTensor)`` is False."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise refusal(name, of)

    return type(name, (), {"__new__": __new__})


def is_only_asked_for() -> bool:
    """Whether ``importlib.util.find_spec`` asks if there is such a package, as transformers does: there is none. An
    import asks in the same way."""
    frame: FrameType | None = sys._getframe(2)
    while frame and frame.f_code.co_name != "_find_and_load":
        if frame.f_globals.get("__name__") == "importlib.util":
            return True
        frame = frame.f_back
    return False


class BringsKernels(importlib.abc.MetaPathFinder):
    """Says why a package of kernels is missing that nobody else finds: as an ImportError, which programs catch that do
    without it. A package of that name that a program is given, say one written for a CPU, is found before."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name in BRING_KERNELS and not is_only_asked_for():
            raise ModuleNotFoundError(f"{name} brings kernels for a GPU, and --pretend-cuda has none.", name=name)
