"""Runs a kernel on a GPU of this machine, through numba, to compare its time with the counts of the warp machine.

Written to numba's documented interface and tested on numba's simulator of it. It has never run on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from lockstep.errors import UsageError, WorldUnavailable
from lockstep.simt.coalescing_and_bank_conflicts import SECTOR
from lockstep.simt.interpreter.kernel_source import plain_function
from lockstep.simt.launch import Launch


@dataclass(frozen=True)
class OnGpu:
    """The time of a kernel on a GPU. ``seconds``: of each repeated launch, by the GPU's own events, without compilation
    and copies."""

    kernel: str
    device: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)


def on_gpu(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *args: Any,
    shared_bytes: int = 0,
    repeats: int = 20,
) -> OnGpu:
    """Launch once, and change the arrays in place as ``launch`` does; then time ``repeats`` launches on copies.

    Raises WorldUnavailable where numba finds no GPU.
    """
    from numba import cuda

    if repeats < 1:
        raise UsageError(f"repeats is {repeats}.", "Give 1 or more.")
    if not cuda.is_available():
        raise WorldUnavailable("numba finds no GPU here.", "Use launch(…): the warp machine runs the same kernel.")
    function = plain_function(kernel)
    configured = cuda.jit(function)[grid, block, 0, shared_bytes]
    on_device = [cuda.to_device(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    spare = [cuda.to_device(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    configured(*on_device)
    for arg, moved in zip(args, on_device, strict=True):
        if isinstance(arg, np.ndarray):
            arg[...] = moved.copy_to_host()
    seconds = tuple(_timed(configured, spare) for _ in range(repeats))
    return OnGpu(function.__name__, _device_name(), seconds)


def _timed(configured: Any, args: list[Any]) -> float:
    from numba import cuda

    begin, end = cuda.event(), cuda.event()
    begin.record()
    configured(*args)
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1e3  # of milliseconds


def _device_name() -> str:
    from numba import cuda

    name = getattr(cuda.current_context().device, "name", "a GPU")
    return name.decode() if isinstance(name, bytes) else str(name)


def beside(counted: Launch, timed: OnGpu) -> str:
    """One line: the counts of a launch, its time on the GPU, and the rates that follow from both."""
    total, seconds = counted.total(), timed.median
    moved = total.sectors * SECTOR
    return (
        f"{counted.kernel} on {timed.device}: {seconds * 1e6:,.1f} µs (median of {len(timed.seconds)}); "
        f"{total.instructions:,} instructions of a warp, {moved:,} bytes in sectors: {moved / seconds / 1e9:,.1f} GB/s"
    )


def on_tensor_cores(A: Any, B: Any, repeats: int = 20) -> tuple[Any, float]:
    """A·B by this machine's tensor cores: the product (float32, NumPy) and the median seconds of a repeat.

    A (m, k) and B (k, n) are rounded to float16. torch's product of half-precision matrices runs on tensor cores
    (NVIDIA, from V100 on), with sums in float32 and the result rounded to float16. Raises WorldUnavailable without a
    GPU."""
    import torch

    if not torch.cuda.is_available():
        raise WorldUnavailable("torch finds no GPU here.", "Use lockstep.simt.tensor_core: it emulates one.")
    a, b = (torch.as_tensor(matrix).to("cuda", torch.float16) for matrix in (A, B))
    product, seconds = a @ b, []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        begin.record()
        torch.matmul(a, b, out=product)
        end.record()
        end.synchronize()
        seconds.append(begin.elapsed_time(end) / 1e3)
    return product.float().cpu().numpy(), median(seconds)
