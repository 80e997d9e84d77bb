"""Microbenchmarks for the survey: compute and memory speed of one thread, latency and bandwidth between two ranks.

Single-thread work is measured in the thread's CPU time, as the best of several short runs, so that other load affects
it little. Messages can only be measured in wall-clock time: as the best of many short batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist

BATCHES, SHORT = 25, 0.005  # number of batches, and their length in seconds: some find the machine idle


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which torch uses one thread, as on each rank."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def matmul_rate(dtype: torch.dtype, n: int = 512) -> float:
    """FLOP/s of an n x n matrix product, counted as 2n³ operations."""
    a, b = torch.ones(n, n, dtype=dtype), torch.ones(n, n, dtype=dtype)
    out = torch.empty(n, n, dtype=dtype)
    return 2 * n**3 / best_time(lambda: torch.mm(a, b, out=out))


def triad_bandwidth(memory: int) -> float:
    """Bytes/s of the STREAM triad a = b + s·c: two arrays read, one written, 64 MB each (less with little memory)."""
    n = min(16 * 2**20, memory // 64)
    b, c, a = (torch.ones(n, dtype=torch.float32) for _ in range(3))
    return 3 * 4 * n / best_time(lambda: torch.add(b, c, alpha=3.0, out=a))


def launch_overhead(repeats: int = 1000) -> float:
    """Seconds of an in-place addition to a tensor of one element."""
    x = torch.zeros(1)

    def many() -> None:
        for _ in range(repeats):
            x.add_(1)

    return best_time(many) / repeats


def best_time(work: Callable[[], object], seconds: float = 0.3) -> float:
    """The least CPU time of ``work`` in seconds, over at least 3 runs and about ``seconds`` of wall-clock time."""
    work()
    times: list[float] = []
    deadline = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < deadline:
        begin = time.thread_time()
        work()
        times.append(time.thread_time() - begin)
    return max(min(times), 1e-9)


def ping_pong_times(sizes: tuple[int, ...]) -> list[float]:
    """One-way seconds for each size in bytes: the least of the means of BATCHES short batches."""
    ping_pong(1, 5)  # the first message makes the connection
    once = [max(min(ping_pong(n, 1) for _ in range(3)), 1e-6) for n in sizes]
    agreed = torch.tensor(once, dtype=torch.float64)
    dist.broadcast(agreed, src=0)  # every rank must repeat equally often
    repeats = [max(1, min(100, int(SHORT / 2 / t))) for t in agreed.tolist()]
    return [min(ping_pong(n, r) for _ in range(BATCHES)) for n, r in zip(sizes, repeats, strict=True)]


def ping_pong(nbytes: int, repeats: int) -> float:
    """Mean one-way seconds between ranks 0 and 1; 0.0 on other ranks."""
    me, ball = dist.get_rank(), torch.ones(nbytes, dtype=torch.uint8)  # not zeros, whose pages would be mapped lazily
    if me > 1:
        return 0.0
    begin = time.perf_counter()
    for _ in range(repeats):
        for server in (0, 1):
            posted = dist.P2POp(dist.isend if me == server else dist.irecv, ball, 1 - me)
            for work in dist.batch_isend_irecv([posted]):  # as the course's algorithms do it: see collectives.exchange
                work.wait()
    return (time.perf_counter() - begin) / repeats / 2
