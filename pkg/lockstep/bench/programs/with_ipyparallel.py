"""A session that has ipyparallel imported starts engines, and a process group on them.

usage: with_ipyparallel.py RANKS     prints {name: seconds} as JSON
"""

import json
import sys
import tempfile
import time

import ipyparallel


def first_result(rank: int, ranks: int, folder: str) -> float:
    import torch  # an engine knows nothing of this session
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks)
    x = torch.ones(1)
    dist.all_reduce(x)
    return x.item()


def main(ranks: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        with ipyparallel.Cluster(n=ranks, log_level=40) as engines:
            got = [engines[r].apply_async(first_result, r, ranks, folder) for r in range(ranks)]
            assert got[0].get(timeout=120) == ranks
            seconds = time.monotonic() - begin
            for other in got:
                other.get(timeout=120)
    print(json.dumps({"ipyparallel": seconds}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
