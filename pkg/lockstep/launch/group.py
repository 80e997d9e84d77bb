"""Joining a process group: the one place that chooses backend and device."""

from __future__ import annotations

import contextlib
import datetime
import os
import sys
from typing import Any

import torch
import torch.distributed as dist


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


def leave() -> None:
    """Every group must be destroyed, whatever state it is in."""
    if dist.is_initialized():
        with contextlib.suppress(Exception):
            dist.destroy_process_group()


def use_loopback() -> None:
    """Ranks of one machine talk over loopback: the machine's name need not resolve."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    os.environ.setdefault("TP_SOCKET_IFNAME", os.environ["GLOO_SOCKET_IFNAME"])
