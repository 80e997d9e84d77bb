"""Ping-pong: the time of a message, measured by sending it there and back many times.

    rank 0      rank 1
      │ ── (1) ──► │        the clock of rank 0 cannot tell when a message arrives at rank 1, but it can tell
      │ ◄── (2) ── │        when its answer is back: two ways, by one clock

Repeated for several sizes n, the times lie on a line, alpha + n·beta: alpha is what an empty message costs, beta what
each byte adds. Source: Hockney, The Communication Challenge for MPP (1994).
"""

from __future__ import annotations

import time

import torch
import torch.distributed as dist


def ping_pong(nbytes: int, repeats: int, group: dist.ProcessGroup | None = None) -> float:
    """Mean seconds of one way between ranks 0 and 1 of ``group``, on both; 0.0 on the others, which stay idle.

    Cost: ``repeats`` messages of ``nbytes`` each way, and one each way before the clock starts: the first message
    between two ranks may have to open the connection.
    """
    message = torch.zeros(nbytes, dtype=torch.uint8)
    if dist.get_rank(group) > 1 or dist.get_world_size(group) == 1:
        return 0.0
    _there_and_back(message, group)
    start = time.perf_counter()
    for _ in range(repeats):
        _there_and_back(message, group)
    return (time.perf_counter() - start) / (2 * repeats)


def _there_and_back(message: torch.Tensor, group: dist.ProcessGroup | None) -> None:
    if dist.get_rank(group) == 0:
        dist.send(message, group=group, group_dst=1)  # (1)
        dist.recv(message, group=group, group_src=1)  # (2)
    else:
        dist.recv(message, group=group, group_src=0)  # (1)
        dist.send(message, group=group, group_dst=0)  # (2)
