"""What the stand-in has of ``torch.accelerator``, which is the GPU (as ``names_of_cuda``)."""

from __future__ import annotations

from typing import Any

import torch

from lockstep.virtual.pretended_cuda import names_of_cuda, streams
from lockstep.virtual.pretended_cuda.gpu import mine


def is_available() -> bool:
    return True


def device_count() -> int:
    return len(mine().visible())


def current_accelerator(check_available: bool = False) -> torch.device:
    return torch.device("cuda")


def current_device_index() -> int:
    return mine().current


def current_device_idx() -> int:
    return mine().current


def set_device_index(device: Any, /) -> None:
    mine().choose(device)


def set_device_idx(device: Any, /) -> None:
    mine().choose(device)


class device_index(names_of_cuda.device):
    """As ``torch.cuda.device``."""


def current_stream(device: Any = None, /) -> streams.Stream:
    return streams.all_of_mine()[-1]


def set_stream(stream: streams.Stream, /) -> None:
    names_of_cuda.set_stream(stream)


def synchronize(device: Any = None, /) -> None:
    mine().number(device)


def memory_allocated(device_index: Any = None, /) -> int:
    return names_of_cuda.memory_allocated(device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    return names_of_cuda.max_memory_allocated(device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    return names_of_cuda.memory_reserved(device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    return names_of_cuda.max_memory_reserved(device_index)


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    mine().ledger.forget_peak()


def empty_cache() -> None: ...


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    return names_of_cuda.mem_get_info(device_index)
