"""Waiting for several futures: ``torch.futures.wait_all`` and ``collect_all`` on the virtual cluster.

torch's own wait in C++ until others have set the values. A VirtualFuture has its value when somebody asks for it
(work.py), and a rank that waits in C++ would keep the baton for ever. So here each future is asked, one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.futures import Future

from lockstep.virtual.work import VirtualFuture


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """The values, in order. Raises what the first one that fails raises."""
    return [future.wait() for future in futures]


def collect_all(futures: Sequence[Future[Any]]) -> VirtualFuture:
    """A future of all these futures: its value is their list, when all are done."""
    several = list(futures)

    def find() -> list[Future[Any]]:
        wait_all(several)
        return several

    return VirtualFuture(find, lambda: all(future.done() for future in several))


def install() -> None:
    """Once in a process."""
    setattr(torch.futures, "wait_all", wait_all)  # noqa: B010
    setattr(torch.futures, "collect_all", collect_all)  # noqa: B010
