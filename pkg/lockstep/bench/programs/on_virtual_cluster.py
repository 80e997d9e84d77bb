"""Programs of messages on the virtual cluster of whichever Lockstep is on the path: what they cost the host.

usage: PYTHONPATH=TREE/pkg on_virtual_cluster.py MESSAGES RANKS...     prints {"program, K ranks": CPU seconds} as JSON

An old checkout runs it, too. So it asks nothing of Lockstep but ``run(fn, …, ranks=, on=)``, and has algorithms of its
own. Those that need more than twice the MESSAGES in one turn are left out.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist

from lockstep.worlds import run

Program = Callable[[int], None]


def ring_of_messages(turns: int) -> None:
    r, K = dist.get_rank(), dist.get_world_size()
    outgoing, incoming = torch.zeros(1), torch.zeros(1)
    for _ in range(turns):
        for work in [dist.isend(outgoing, (r + 1) % K), dist.irecv(incoming, (r - 1) % K)]:
            if work is not None:
                work.wait()


def ring_all_reduce(turns: int) -> None:
    """Reduce-scatter, then all-gather: 2(K-1) rounds, one number a chunk."""
    r, K = dist.get_rank(), dist.get_world_size()
    chunks, incoming = list(torch.zeros(K, 1)), torch.zeros(1)
    for _ in range(turns):
        for step in range(2 * (K - 1)):
            got = chunks[(r - step - 1) % K]
            sending = dist.isend(chunks[(r - step) % K], (r + 1) % K)
            dist.recv(incoming, (r - 1) % K)
            if sending is not None:
                sending.wait()
            got.add_(incoming) if step < K - 1 else got.copy_(incoming)


def tree(turns: int) -> None:
    """Broadcast from rank 0 along a binomial tree."""
    r, K, x = dist.get_rank(), dist.get_world_size(), torch.zeros(1)
    for _ in range(turns):
        step = 1
        while step < K:
            if r < step and r + step < K:
                dist.send(x, r + step)
            elif step <= r < 2 * step:
                dist.recv(x, r - step)
            step *= 2


PROGRAMS: dict[str, tuple[Program, Callable[[int], int]]] = {
    "ring of messages": (ring_of_messages, lambda K: K),  # messages of one turn
    "ring all-reduce": (ring_all_reduce, lambda K: 2 * K * (K - 1)),
    "tree": (tree, lambda K: K - 1),
}


def timed(program: Program, turns: int) -> tuple[float, float]:
    """On a rank: CPU seconds of the simulation's process, before and after."""
    dist.barrier()
    before = time.process_time()
    program(turns)
    return before, time.process_time()


def cpu_seconds(program: Program, turns: int, ranks: int) -> float:
    before, after = zip(*run(timed, program, turns, ranks=ranks, on="dgx-a100").values, strict=True)
    return float(max(after) - min(before))


def main(wanted: int, ranks: list[int]) -> None:
    cpu_seconds(ring_of_messages, 1, 2)  # the first run of a session starts the server
    found: dict[str, float] = {}
    for name, (program, messages) in PROGRAMS.items():
        for K in ranks:
            if messages(K) <= 2 * wanted:
                found[f"{name}, {K} ranks"] = cpu_seconds(program, -(-wanted // messages(K)), K)
    print(json.dumps({"lockstep": str(Path(str(sys.modules["lockstep"].__file__)).parent), "seconds": found}))


if __name__ == "__main__":
    main(int(sys.argv[1]), [int(K) for K in sys.argv[2:]])
