"""A session that has torch and lockstep imported, as a notebook has: the first run(), then more of them.

usage: in_lockstep.py RANKS REPEATS     prints {name: seconds} as JSON

A person needs a moment until the next cell: PAUSE. Meanwhile ranks for the next run are forked ahead. A run that
follows at once finds none.
"""

import json
import sys
import time
from statistics import median

import torch
import torch.distributed as dist

from lockstep.worlds import run

PAUSE = 0.7  # seconds


def first_result() -> float:
    x = torch.ones(1)
    dist.all_reduce(x)
    return x.item()


def seconds(ranks: int, on: str) -> float:
    begin = time.monotonic()
    assert run(first_result, ranks=ranks, on=on).values == [ranks] * ranks
    return time.monotonic() - begin


def main(ranks: int, repeats: int) -> None:
    found = {"cold": [seconds(ranks, "processes")], "warm": [], "again": [], "virtual": []}
    for _ in range(repeats):
        time.sleep(PAUSE)
        found["warm"].append(seconds(ranks, "processes"))
        found["again"].append(seconds(ranks, "processes"))
        time.sleep(PAUSE)
        found["virtual"].append(seconds(ranks, "dgx-a100"))
    print(json.dumps({name: median(values) for name, values in found.items()}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
