"""Joining and leaving the default process group: backend, device, rendezvous, connections."""

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

from lockstep.launch.init_process_group import Adoption, Given, agree, on_cpus
from lockstep.launch.store import BriskStore

LONG = 30 * 86_400.0  # seconds: the parent process enforces the time limit


def on_gpus(local_ranks: int) -> bool:
    """Whether there is a GPU for each rank of this node, and NCCL."""
    return torch.cuda.is_available() and torch.cuda.device_count() >= local_ranks and dist.is_nccl_available()


def join(rank: int, world: int, timeout: float, store: Any = None) -> None:
    """Make this process a rank of the default group: with gloo, or with gloo and NCCL if each local rank has a GPU.
    Without a ``store``, the rendezvous is at MASTER_ADDR and MASTER_PORT."""
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
    """``join`` for ranks of one machine, with the file ``path`` as rendezvous. Returns the store, which must be kept
    alive: torch references only its C++ part. (NCCL accesses the store in threads of its own, without Python.)"""
    store = meeting(path, world)
    join(rank, world, LONG, store)
    return store


def meeting(path: str, world: int) -> Store:
    """The store of ``world`` ranks of one machine."""
    return FileStore(path, world) if on_gpus(world) else BriskStore(path, world)


def given(rank: int, world: int, store: Callable[[], Store], timeout: float) -> Given:
    """The membership of a rank that has joined its group. Stores that it creates later are kept alive."""
    kept: list[Store] = []

    def keep() -> Store:
        kept.append(store())
        return kept[-1]

    return Given(rank, world, keep, datetime.timedelta(seconds=timeout))


def adoption(given: Given) -> Adoption:
    """A context in which the program of a rank may call ``init_process_group`` itself."""
    gpus = on_gpus(int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    return Adoption(lambda: given, str if gpus else on_cpus, functools.partial(agree, given.rank), True)


def gathered(mine: bytes) -> list[bytes]:
    """An all-gather of bytes. (torch's ``all_gather_object`` would unpickle what other ranks have sent.)"""
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


def free_port() -> int:
    """A TCP port of this machine that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def leave() -> None:
    """Destroy all process groups, whatever state they are in."""
    if dist.is_initialized():
        with contextlib.suppress(Exception):
            dist.destroy_process_group()


def leave_at_exit() -> None:
    """``leave``, then wait until gloo's threads are idle: one that releases a tensor while Python shuts down aborts the
    process (torch 2.13)."""
    leave()
    for _ in range(100):
        time.sleep(0.02)
        if not others_run():
            return


def others_run() -> bool:
    """Whether another thread of this process is runnable."""
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
    """Shut down connections to other ranks, so that their operations with this one fail at once. (gloo has no abort,
    and destroying a group leaves its connections open.)"""
    for fd in connections:
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(fd)) as connection:
            connection.shutdown(socket.SHUT_RDWR)


def use_loopback() -> None:
    """Let ranks of one machine communicate over loopback, so that the hostname need not resolve."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    os.environ.setdefault("TP_SOCKET_IFNAME", os.environ["GLOO_SOCKET_IFNAME"])
