"""``torch.multiprocessing.spawn``, by which a program starts its own ranks.

Where the ranks have been started already, it must not: the processes would be no ranks of this run, and all that they
send would be unseen. Under the script runner they *are* the ranks, one each; within ``run(fn)`` the call is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import torch.multiprocessing

from lockstep.errors import UsageError


def install(start: Callable[..., Any]) -> None:
    """Replace ``start_processes``, which ``spawn`` calls, in this process."""
    for module in (torch.multiprocessing, sys.modules["torch.multiprocessing.spawn"]):
        setattr(module, "start_processes", start)  # noqa: B010


def refused(fn: Callable[..., Any], args: Any = (), nprocs: int = 1, *_: Any, **__: Any) -> None:
    """Within ``run(fn)``. Raises UsageError."""
    name = getattr(fn, "__name__", "worker")
    raise UsageError(
        "mp.spawn starts ranks, and this is a rank already.",
        f"run() starts the ranks: give it `{name}`, as in run(lambda: {name}(dist.get_rank(), …), ranks={nprocs}).",
    )


def as_ranks(
    fn: Callable[..., Any],
    args: Any = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> None:
    """Under the script runner: this rank is the process ``fn(rank, *args)`` that bears its number. Returns when ``fn``
    does. Raises UsageError unless as many processes are asked for as there are ranks, and are waited for."""
    ranks = int(os.environ["WORLD_SIZE"])
    if nprocs != ranks:
        raise UsageError(
            f"mp.spawn(nprocs={nprocs}), but this run has --ranks {ranks}, and each rank is one of its processes.",
            f"Start it with --ranks {nprocs}." if nprocs > 0 else "Pass nprocs=int(os.environ['WORLD_SIZE']).",
        )
    if not join:
        raise UsageError(
            "mp.spawn(join=False) goes on beside the processes that it starts, and here this rank is one of them.",
            "Leave join=False out.",
        )
    fn(int(os.environ["RANK"]), *args)
