"""Waits that end by themselves: ``work.wait(timeout)``, and what waits in a group that has a timeout.

A rank in such a wait is in no deadlock, whatever the others do: its program gets torch's error, and may catch it. The
watchdog of the processes recognises it by ``ends_by_itself`` on the rank's stack."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import torch

T = TypeVar("T")

NEVER = float("inf")
NEGLIGIBLE = timedelta(minutes=10)  # torch's default for groups is this with NCCL, and 30 minutes with gloo


def limit_of(timeout: timedelta | None) -> float:
    """The seconds after which a wait with that timeout ends. None, a timeout of zero (torch's for none) and one that is
    ``NEGLIGIBLE`` or longer never end it: what waits for ever is told as a deadlock long before."""
    return NEVER if not timeout or timeout >= NEGLIGIBLE else timeout.total_seconds()


def limit_of_group(group: Any) -> float:
    """The same of a group of gloo's; NEVER for others, which have watchdogs of their own, and where torch.compile reads
    this, which fails at the group's backend."""
    if torch.compiler.is_compiling():
        return NEVER
    try:
        return limit_of(group._get_backend(torch.device("cpu")).options._timeout)
    except (AttributeError, RuntimeError):
        return NEVER


def ends_by_itself(wait: Callable[[], T]) -> T:
    return wait()
