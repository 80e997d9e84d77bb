"""What the stand-in has of ``torch.cuda``: each public function and class of this file takes the place of torch's of
the same name, and answers for the rank that calls. docs/scripts.md lists them.

No function has two names: torch.compile, which keeps a table of torch's functions, refuses that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from lockstep.virtual.pretended_cuda import streams
from lockstep.virtual.pretended_cuda.gpu import mine

Event, Stream, StreamContext = streams.Event, streams.Stream, streams.StreamContext


class _Properties(NamedTuple):
    """What ``get_device_properties`` returns."""

    name: str
    major: int
    minor: int
    total_memory: int


# ---- which GPU


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return True


def init() -> None: ...


def device_count() -> int:
    return len(mine().visible())


def current_device() -> int:
    return mine().current


def set_device(device: Any) -> None:
    mine().choose(device)


class device:
    """A context in which another device is the current one; None changes nothing."""

    def __init__(self, device: Any) -> None:
        self._index = None if device is None else mine().number(device)

    def __enter__(self) -> None:
        self._before = mine().current
        if self._index is not None:
            mine().current = self._index

    def __exit__(self, *error: object) -> None:
        mine().current = self._before


class device_of(device):
    """The context of the device that a tensor is on."""

    def __init__(self, obj: torch.Tensor) -> None:
        super().__init__(mine().home() if mine().ledger.has(obj) else None)


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    return mine().number(device) != mine().number(peer_device)


# ---- what it is


def get_device_name(device: Any = None) -> str:
    mine().number(device)
    return mine().device.name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    mine().number(device)
    return mine().capability


def get_device_properties(device: Any = None) -> _Properties:
    mine().number(device)
    return _Properties(mine().device.name, *mine().capability, mine().device.memory)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return including_emulation or mine().capability >= (8, 0)


def is_tf32_supported() -> bool:
    return mine().capability >= (8, 0)


# ---- streams


def current_stream(device: Any = None) -> streams.Stream:
    return streams.all_of_mine()[-1]


def default_stream(device: Any = None) -> streams.Stream:
    return streams.all_of_mine()[0]


def stream(stream: streams.Stream | None) -> streams.StreamContext:
    return streams.StreamContext(stream)


def set_stream(stream: streams.Stream | None) -> None:
    if stream is not None:
        streams.all_of_mine()[-1] = stream


def synchronize(device: Any = None) -> None:
    mine().number(device)


def is_current_stream_capturing() -> bool:
    return False


# ---- memory


def memory_allocated(device: Any = None) -> int:
    return mine().ledger.on_gpu if mine().is_own(device) else 0


def max_memory_allocated(device: Any = None) -> int:
    return mine().ledger.most_on_gpu if mine().is_own(device) else 0


def memory_reserved(device: Any = None) -> int:
    return mine().ledger.on_gpu if mine().is_own(device) else 0


def max_memory_reserved(device: Any = None) -> int:
    return mine().ledger.most_on_gpu if mine().is_own(device) else 0


def reset_peak_memory_stats(device: Any = None) -> None:
    mine().ledger.forget_peak()


def reset_max_memory_allocated(device: Any = None) -> None:
    mine().ledger.forget_peak()


def empty_cache() -> None: ...


def ipc_collect() -> None: ...


def mem_get_info(device: Any = None) -> tuple[int, int]:
    total = mine().device.memory
    return total - (mine().ledger.on_gpu if mine().is_own(device) else 0), total


# ---- random numbers: a rank has one generator


def manual_seed(seed: int) -> None:
    torch.default_generator.manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    torch.default_generator.manual_seed(int(seed))


def seed() -> None:
    torch.default_generator.seed()


def seed_all() -> None:
    torch.default_generator.seed()


def initial_seed() -> int:
    return torch.default_generator.initial_seed()


def get_rng_state(device: Any = "cuda") -> torch.Tensor:
    return torch.default_generator.get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
    torch.default_generator.set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    return [torch.default_generator.get_state() for _ in mine().visible()]


def set_rng_state_all(new_states: Any) -> None:
    torch.default_generator.set_state(new_states[mine().home().index])
