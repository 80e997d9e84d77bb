"""What a rank keeps in other things than tensors is found, and what it doesn't keep is not."""

from __future__ import annotations

import array
import io
import mmap
import sys
import tempfile
import types
from collections.abc import Callable
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack

from lockstep import run
from lockstep.residency import BESIDES, Residency, weighed

ARRAYS, NUMBERS, BYTES, FILES, MAPPED, UNSEEN = BESIDES
N = 100_000


class Object:
    def __init__(self, held: Any) -> None:
        self.held = held


class Slots:
    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


def closure(held: Any) -> Callable[[], Any]:
    return lambda: held


def generator(held: Any) -> Any:
    yield 1
    yield held


def out_of_sight() -> torch.Tensor:
    with _disable_current_modes():
        return torch.zeros(N, dtype=torch.uint8)


def shared() -> SharedMemory:
    memory = SharedMemory(create=True, size=N)
    memory.unlink()
    return memory


def file(unlinked: bool = False) -> Any:
    own = tempfile.TemporaryFile() if unlinked else tempfile.NamedTemporaryFile()  # noqa: SIM115
    own.write(bytes(N))
    own.flush()
    return own


def mapped(own: Any) -> Any:
    return own, mmap.mmap(own.fileno(), N)


def begun(held: Any) -> Any:
    own = generator(held)
    next(own)
    return own


class Keeping(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.own = np.zeros(N, np.uint8)
        return x.clone()


def made(held: Any) -> types.ModuleType:
    module = types.ModuleType("mine")
    module.held = held  # type: ignore[attr-defined]
    return module


def put_into(module: Any) -> None:
    module.something_new = np.zeros(N, np.uint8)


KEPT: dict[str, tuple[str, Callable[[], Any]]] = {
    "an array": (ARRAYS, lambda: np.zeros(N, np.uint8)),
    "a part of an array": (ARRAYS, lambda: np.zeros(N, np.uint8)[:1]),
    "an array of a list": (ARRAYS, lambda: [{"x": (np.zeros(N, np.uint8),)}]),
    "an array of an object": (ARRAYS, lambda: Object(np.zeros(N, np.uint8))),
    "an array of a slot": (ARRAYS, lambda: Slots(np.zeros(N, np.uint8))),
    "an array of a closure": (ARRAYS, lambda: closure(np.zeros(N, np.uint8))),
    "an array of a generator": (ARRAYS, lambda: begun(np.zeros(N, np.uint8))),
    "an array in torch": (ARRAYS, lambda: put_into(torch)),
    "an array in sys": (ARRAYS, lambda: put_into(sys)),
    "an array of an operation": (ARRAYS, lambda: Keeping.apply(torch.ones(1, requires_grad=True))),
    "an array of a module that was made": (ARRAYS, lambda: made(np.zeros(N, np.uint8))),
    "a list": (NUMBERS, lambda: [0.5] * (N // 32)),
    "a list of NumPy's numbers": (NUMBERS, lambda: [np.float64(n) for n in range(N // 40)]),
    "a long number": (NUMBERS, lambda: 1 << (8 * N)),
    "a set of short texts": (BYTES, lambda: {f"{n:040}" for n in range(N // 89)}),
    "bytes": (BYTES, lambda: bytes(N)),
    "text": (BYTES, lambda: "x" * N),
    "an array of Python's": (BYTES, lambda: array.array("b", bytes(N))),
    "a file in memory": (BYTES, lambda: io.BytesIO(bytes(N))),
    "a file": (FILES, file),
    "a file without a name": (FILES, lambda: file(unlinked=True)),
    "shared memory": (MAPPED, shared),
    "mapped memory": (MAPPED, lambda: mmap.mmap(-1, N)),
    "a mapped file": (MAPPED, lambda: mapped(file())),
    "a tensor": (UNSEEN, out_of_sight),
}


def keeps(name: str) -> dict[str, int]:
    def program() -> None:
        kept = KEPT[name][1]()
        dist.barrier()
        del kept

    return weighed(program)[1]


@pytest.mark.parametrize("name", KEPT)
def test_it_is_found(name: str) -> None:
    (held,) = run(keeps, name, ranks=1, on="dgx-a100").values
    kind = KEPT[name][0]
    assert N <= held[kind] < 1.2 * N
    assert 0.95 * N < held["peak"] < 1.2 * N
    assert not held["deaf"]


def test_it_is_found_on_processes() -> None:
    assert [held[ARRAYS] for held in run(keeps, "an array", ranks=2).values] == [N, N]


def lets_go() -> dict[str, int]:
    def program(given: Any) -> None:
        kept = np.zeros(N, np.uint8)
        dist.barrier()
        del kept
        tensor = torch.zeros(N, dtype=torch.uint8)
        dist.barrier()
        del tensor
        torch.zeros(3 * N, dtype=torch.uint8)

    return weighed(program, np.zeros(N, np.uint8))[1]


def test_what_it_lets_go_of_is_not_kept_by_looking() -> None:
    (held,) = run(lets_go, ranks=1, on="dgx-a100").values
    assert held["peak"] == 3 * N
    assert not any(held[kind] for kind in BESIDES)


def nothing() -> dict[str, int]:
    return weighed(lambda: dist.barrier())[1]


def test_small_things_do_not_count() -> None:
    assert run(nothing, ranks=2, on="dgx-a100").values[1]["peak"] == 0


def deaf(name: str, own: bool) -> int:
    def program() -> None:
        (mode,) = _get_current_dispatch_mode_stack()
        setattr(mode.residency if own else Residency, name, lambda *args: None)

    return weighed(program)[1]["deaf"]


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("name", ["see", "_book", "look"])
def test_who_replaces_what_counts_is_told(name: str, own: bool) -> None:
    assert run(deaf, name, own, ranks=1, on="dgx-a100").values == [1]
