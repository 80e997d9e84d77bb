"""Joining a process group: the one place that chooses backend and device."""

from __future__ import annotations

import contextlib
import datetime
import functools
import os
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import FileStore, Store  # type: ignore[attr-defined]

from lockstep.launch.adoption import Adoption, Given, agree, on_cpus
from lockstep.launch.store import BriskStore

LONG = 30 * 86_400.0  # seconds: whoever starts ranks ends them when their time is up


def on_gpus(local_ranks: int) -> bool:
    """Whether each rank of this node has a GPU of its own."""
    return torch.cuda.is_available() and torch.cuda.device_count() >= local_ranks and dist.is_nccl_available()


def join(rank: int, world: int, timeout: float, store: Any = None) -> None:
    """Make this process a rank: gloo, or gloo and nccl where each local rank has a GPU. Without a ``store``, the
    ranks meet at MASTER_ADDR and MASTER_PORT."""
    local_ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    gpus = on_gpus(local_ranks)
    if gpus:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    else:
        torch.set_num_threads(1)
    dist.init_process_group(
        "cpu:gloo,cuda:nccl" if gpus else "gloo",
        rank=rank,
        world_size=world,
        store=store,
        init_method=None if store else "env://",
        timeout=datetime.timedelta(seconds=timeout),
    )


def meet(path: str, rank: int, world: int) -> Store:
    """``join`` of ranks of one machine, which meet in the file ``path``. Returns the store: it must be kept, for torch
    keeps only its C++ half. NCCL asks the store in threads of its own, without Python."""
    store = meeting(path, world)
    join(rank, world, LONG, store)
    return store


def meeting(path: str, world: int) -> Store:
    """The store of ``world`` ranks of one machine."""
    return FileStore(path, world) if on_gpus(world) else BriskStore(path, world)


def given(rank: int, world: int, store: Callable[[], Store], timeout: float) -> Given:
    """The place of a rank that has joined its group. The stores that it makes later are kept: as above."""
    kept: list[Store] = []

    def keep() -> Store:
        kept.append(store())
        return kept[-1]

    return Given(rank, world, keep, datetime.timedelta(seconds=timeout))


def adoption(given: Given) -> Adoption:
    """Within it, the program of a rank may call ``init_process_group`` itself."""
    gpus = on_gpus(int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    return Adoption(lambda: given, str if gpus else on_cpus, functools.partial(agree, given.rank))


def gathered(mine: bytes) -> list[bytes]:
    """The bytes of every rank, on every rank. (torch's ``all_gather_object`` would unpickle what others have sent.)"""
    gpus = "nccl" in dist.get_backend() and on_gpus(int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    device = torch.device("cuda", torch.cuda.current_device()) if gpus else torch.device("cpu")
    lengths = [torch.zeros(1, dtype=torch.int64, device=device) for _ in range(dist.get_world_size())]
    dist.all_gather(lengths, torch.tensor([len(mine)], device=device))
    sizes = [int(length) for length in lengths]
    padded = torch.zeros(max(1, *sizes), dtype=torch.uint8)
    padded[: len(mine)] = torch.frombuffer(bytearray(mine), dtype=torch.uint8) if mine else 0
    all_bytes = [torch.empty_like(padded, device=device) for _ in sizes]
    dist.all_gather(all_bytes, padded.to(device))
    return [told[:size].cpu().numpy().tobytes() for told, size in zip(all_bytes, sizes, strict=True)]


def name_master(address: str, port: int) -> None:
    """Let programs that read where rank 0 is find something. What the caller has set, stays."""
    os.environ.setdefault("MASTER_ADDR", address)
    os.environ.setdefault("MASTER_PORT", str(port))


def free_port() -> int:
    """A port of this machine that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def leave() -> None:
    """Every group must be destroyed, whatever state it is in."""
    if dist.is_initialized():
        with contextlib.suppress(Exception):
            dist.destroy_process_group()


def leave_at_exit() -> None:
    """The same, and let gloo's threads come to rest: one that drops a tensor while Python shuts down aborts the
    process (torch 2.13)."""
    leave()
    for _ in range(100):
        time.sleep(0.02)
        if not others_run():
            return


def others_run() -> bool:
    """Whether another thread of this process runs or wants to."""
    tasks, main = Path("/proc/self/task"), str(os.getpid())
    states = [t.joinpath("stat").read_text().rpartition(")")[2].split()[0] for t in tasks.glob("*") if t.name != main]
    return "R" in states


def sockets() -> set[int]:
    """The TCP connections of this process, by file descriptor."""
    return {fd for fd in map(int, os.listdir("/dev/fd")) if is_connection(fd)}


def is_connection(fd: int) -> bool:
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            with socket.socket(fileno=os.dup(fd)) as end:
                return end.family in (socket.AF_INET, socket.AF_INET6) and bool(end.getpeername())
    return False


def hang_up(connections: Iterable[int]) -> None:
    """Tell the other ranks that this one takes no part any more: their operations with it fail at once. (gloo has no
    abort, and destroying a group leaves its connections open.)"""
    for fd in connections:
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(fd)) as connection:
            connection.shutdown(socket.SHUT_RDWR)


def use_loopback() -> None:
    """Ranks of one machine talk over loopback: the machine's name need not resolve."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    os.environ.setdefault("TP_SOCKET_IFNAME", os.environ["GLOO_SOCKET_IFNAME"])
