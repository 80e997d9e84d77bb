"""A session that has torch imported starts ranks by torch.multiprocessing.spawn.

usage: with_spawn.py RANKS     prints {name: seconds} as JSON
"""

import json
import sys
import tempfile
import time
from typing import Any

import torch
import torch.distributed as dist
from torch import multiprocessing


def first_result(rank: int, ranks: int, folder: str, results: Any) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks)
    x = torch.ones(1)
    dist.all_reduce(x)
    if rank == 0:
        results.put(x.item())
    dist.barrier()
    dist.destroy_process_group()


def main(ranks: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        results = multiprocessing.get_context("spawn").SimpleQueue()
        spawn: Any = multiprocessing.spawn  # type: ignore[attr-defined]
        started = spawn(first_result, (ranks, folder, results), nprocs=ranks, join=False)
        assert results.get() == ranks
        seconds = time.monotonic() - begin
        while not started.join():
            pass
    print(json.dumps({"spawn": seconds}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
