"""Who waits for a neighbour before all is posted, by the order of each rank's own events."""

import pytest
import torch
import torch.distributed as dist

from lockstep.exercises.without_waiting.concurrent_messages import early_waits
from lockstep.without_waiting.gossip import gossip_step, ring
from lockstep.worlds import run

K = 4


def at_once(steps: int) -> None:
    for _ in range(steps):
        gossip_step(torch.ones(2), ring(K))


def neighbour_by_neighbour(steps: int) -> None:
    rank = dist.get_rank()
    for _ in range(steps):
        for other in sorted({(rank + 1) % K, (rank - 1) % K}):
            for work in (dist.isend(torch.ones(2), other), dist.irecv(torch.ones(2), other)):
                work.wait()


def receives_first(steps: int) -> None:
    rank = dist.get_rank()
    for _ in range(steps):
        works = [dist.irecv(torch.ones(2), (rank + by) % K) for by in (1, -1)]
        for by in (1, -1):
            dist.send(torch.ones(2), (rank + by) % K)
        for work in works:
            work.wait()


def sends_first(steps: int) -> None:
    rank = dist.get_rank()
    for _ in range(steps):
        works = [dist.isend(torch.ones(2), (rank + by) % K) for by in (1, -1)]
        for by in (1, -1):
            dist.recv(torch.ones(2), (rank + by) % K)
        for work in works:
            work.wait()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize(
    ("program", "wanted"), [(at_once, 0), (receives_first, 0), (sends_first, 0), (neighbour_by_neighbour, K)]
)
def test_early_waits_are_counted_step_by_step(program: object, wanted: int, steps: int) -> None:
    assert early_waits(run(program, steps, ranks=K, on="laptop").trace, steps) == wanted
