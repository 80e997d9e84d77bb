"""A session that has torch and lockstep imported starts ranks in one run after another, in one of two ways.

usage: starts.py HOW RANKS RUNS     HOW: lockstep, or forkserver: the standard library's, which has both preloaded, too
prints {"first": {"seconds": [...], "cpu": CPU seconds a run}, "at once": ..., "rested": ...}

CPU seconds are those of this session and of all processes that it has started, and of the rest after the last run, in
which spares are forked for the next one.
"""

import json
import multiprocessing
import multiprocessing.connection
import sys
import tempfile
import time
from collections.abc import Callable

import psutil
import torch
import torch.distributed as dist

from lockstep.worlds import run

REST = 2.0  # seconds


def sum_of_ranks() -> float:
    x = torch.ones(1)
    dist.all_reduce(x)
    return x.item()


def with_lockstep(ranks: int) -> list[float]:
    return list(run(sum_of_ranks, ranks=ranks, on="processes").values)


FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(["__main__", "torch", "torch.distributed", "lockstep.worlds"])


def rank_of_forkserver(rank: int, ranks: int, folder: str, result: multiprocessing.connection.Connection) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks)
    result.send(sum_of_ranks())
    dist.barrier()
    dist.destroy_process_group()


def with_forkserver(ranks: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        pipes = [FORKSERVER.Pipe(duplex=False) for _ in range(ranks)]
        started = [
            FORKSERVER.Process(target=rank_of_forkserver, args=(rank, ranks, folder, sending))
            for rank, (_, sending) in enumerate(pipes)
        ]
        for process in started:
            process.start()
        values = [receiving.recv() for receiving, _ in pipes]
        for process in started:
            process.join()
        return values


def used() -> float:
    """CPU seconds of this process and its descendants, those that have ended, too."""
    me = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in (me, *me.children(recursive=True)))


def timed(act: Callable[[int], list[float]], ranks: int) -> float:
    begin = time.monotonic()
    assert act(ranks) == [ranks] * ranks
    return time.monotonic() - begin


def phase(act: Callable[[int], list[float]], ranks: int, runs: int, rest: float) -> dict[str, object]:
    """``runs`` runs, each followed by a ``rest``, and a REST at the end: by then no process is about to end."""
    cpu, found = used(), []
    for _ in range(runs):
        found.append(timed(act, ranks))
        time.sleep(rest)
    time.sleep(REST - rest)
    return {"seconds": found, "cpu": (used() - cpu) / runs}


def main(how: str, ranks: int, runs: int) -> None:
    act = {"lockstep": with_lockstep, "forkserver": with_forkserver}[how]
    found = {
        "first": phase(act, ranks, 1, REST),
        "at once": phase(act, ranks, runs, 0),
        "rested": phase(act, ranks, max(1, runs // 5), REST),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
