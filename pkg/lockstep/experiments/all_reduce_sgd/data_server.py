"""Training-data servers: rank 0 has the examples and does not train; the other ranks request examples from it.

    worker                       server
      │ ── who is next? ──────────► │      one of the pools of positions: each worker has its own (even, overlapping),
      │ ◄── positions ───────────── │      or all have one together (dynamic)
      │ ◄── these examples ──────── │
      │  trains on them             │      meanwhile it serves the others
      │ ── who is next? ──────────► │

From a common pool a slow worker takes fewer examples, and all finish at the same time. The cost: a request to the
server, every example is sent, and which rank trains on which example depends on timing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.data_parallel.sampler import overlapping, partition, permutation
from lockstep.errors import UsageError
from lockstep.machines import Cluster, find
from lockstep.straggler import burn
from lockstep.tables import Table
from lockstep.worlds import Result, run

SPLITS = ("even", "overlapping", "dynamic")
NOBODY = -1  # the position of no example


def serve(examples: Tensor, pools: Sequence[Iterator[int]], at_once: int) -> None:
    """On the server: send worker r, which is rank r + 1, the next ``at_once`` of its pool whenever it asks, until all
    pools are empty and every worker knows it."""
    working = len(pools)
    while working:
        worker = dist.recv(torch.empty(1))  # from whoever asks first
        positions = torch.tensor(list(islice(pools[worker - 1], at_once)), dtype=torch.int64)
        missing = at_once - len(positions)
        dist.send(torch.cat([positions, positions.new_full((missing,), NOBODY)]), worker)
        if len(positions):
            dist.send(examples[positions], worker)
        else:
            working -= 1


def served(example: Tensor, at_once: int) -> Iterator[tuple[list[int], Tensor]]:
    """On a worker: positions and examples, up to ``at_once`` each time, until there are no more. ``example`` is of
    their shape and dtype."""
    while True:
        dist.send(torch.empty(1), 0)
        row = torch.empty(at_once, dtype=torch.int64)
        dist.recv(row, 0)
        positions = [i for i in row.tolist() if i != NOBODY]
        if not positions:
            return
        examples = example.new_empty((len(positions), *example.shape))
        dist.recv(examples, 0)
        yield positions, examples


def pools(split: str, count: int, workers: int, epoch: int = 0) -> list[Iterator[int]]:
    """The positions that each worker is given. Raises UsageError for a split that does not exist."""
    if split not in SPLITS:
        raise UsageError(f"There is no split {split!r}.", f"There are {', '.join(SPLITS)}.")
    if split == "dynamic":
        return [iter(permutation(count, epoch))] * workers
    share = partition if split == "even" else overlapping
    return [iter(share(range(count), worker, workers, epoch)) for worker in range(workers)]


def epoch_from_server(split: str, count: int, at_once: int, flops: float) -> list[int]:
    """A program for every rank: one epoch with ``count`` examples of the digits' size, ``flops`` floating-point
    operations each. It returns what this rank has trained on; of the server nothing."""
    taken, example = list[int](), torch.zeros(1, 8, 8)
    if dist.get_rank() == 0:
        serve(example.expand(count, 1, 8, 8), pools(split, count, dist.get_world_size() - 1), at_once)
        return taken
    for positions, _ in served(example, at_once):
        burn(flops * len(positions))
        taken += positions
    return taken


def epoch(
    split: str, on: str | Cluster, workers: int = 4, count: int = 96, at_once: int = 4, flops: float = 1.5e8
) -> Result:
    """That epoch on a simulated cluster. With much less to compute for an example, workers wait for the server: it
    answers one after the other."""
    return run(partial(epoch_from_server, split, count, at_once, flops), ranks=workers + 1, on=on)


def server_table(speed: float = 0.5, workers: int = 4) -> Table:
    """One epoch with each split, where the last worker computes ``speed`` times as fast as the others."""
    cluster = find("dgx-a100").with_rank(workers, speed=speed)
    rows = []
    for split in SPLITS:
        ran = epoch(split, cluster, workers)
        _, *taken = ran.values
        seen = [i for own in taken for i in own]
        rows.append([split, *(str(len(own)) for own in taken), str(len(set(seen))), f"{ran.time * 1e6:,.0f} µs"])
    head = ["split", *(f"worker {w}" for w in range(1, workers + 1)), "different examples", "the epoch takes"]
    return Table(f"Examples from a server; worker {workers} is {speed:g} times as fast as the others", head, rows)
