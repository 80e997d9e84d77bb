"""What torch must do differently in a process whose ranks have no data. Private API of torch, for 2.13 to 2.15.

object collectives   need bytes that are really there: they run outside the fake mode
DTensor              asks for the global shape of a result by running the operation under the fake mode in force, or
                     under one of its own if there is none: it is told that there is none, so that the rank's clock
                     can tell its question from the rank's own work (429 GFLOP were counted for 86 without this)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch.distributed as dist
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.distributed import distributed_c10d
from torch.distributed.tensor import _sharding_prop

OBJECT_COLLECTIVES = (
    "all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list",
    "send_object_list", "recv_object_list",
)  # fmt: skip


def install() -> None:
    """Once in a process."""
    setattr(_sharding_prop, "detect_fake_mode", lambda *_: None)  # noqa: B010
    for name in OBJECT_COLLECTIVES:
        outside = outside_fake_mode(getattr(distributed_c10d, name))
        setattr(distributed_c10d, name, outside)
        setattr(dist, name, outside)


def outside_fake_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with unset_fake_temporarily():
            return function(*args, **kwargs)

    return call
