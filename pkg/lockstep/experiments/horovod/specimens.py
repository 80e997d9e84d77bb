"""Small programs whose timelines show what Horovod fuses, and what it does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import torch

from lockstep.with_horovod.ranks import run_horovod
from lockstep.with_horovod.timeline import Timeline

MS = 1e-3


def gradients(steps: Sequence[Mapping[str, int]], pauses: Mapping[str, float] | None = None) -> None:
    """In each step, all-reduces of named tensors with so many elements, all started before any is waited for.
    ``pauses`` are seconds before a tensor is ready."""
    import horovod.torch as hvd

    for sizes in steps:
        handles = []
        for name, size in sizes.items():
            time.sleep((pauses or {}).get(name, 0.0))
            handles.append(hvd.allreduce_async_(torch.ones(size), name=name))
        for handle in handles:
            hvd.synchronize(handle)


def beside() -> None:
    """All-reduces of two types in one step, with broadcasts before them and all-gathers at the same time."""
    import horovod.torch as hvd

    for name in ("weight", "bias"):
        hvd.broadcast_(torch.ones(8), 0, name=name)
    for _ in range(2):
        handles = [
            hvd.allreduce_async_(torch.ones(64), name="weight"),
            hvd.allgather_async(torch.ones(3), name="losses"),
            hvd.allreduce_async_(torch.ones(64, dtype=torch.float64), name="statistics"),
            hvd.allgather_async(torch.ones(3), name="lengths"),
            hvd.allreduce_async_(torch.ones(8), name="bias"),
        ]
        for handle in handles:
            hvd.synchronize(handle)
    hvd.alltoall(torch.ones(12), name="tokens")


def training() -> None:
    """Two steps of a small network with ``DistributedOptimizer``."""
    import horovod.torch as hvd

    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(4, 6)).square().mean().backward()
        optimizer.step()


FOUR = {"w1": 300, "b1": 10, "w2": 300, "b2": 10}
FIVE = {"a": 5, "b": 5, "late": 5, "later": 5, "c": 5}
UNFUSED, PATIENT = {"HOROVOD_FUSION_THRESHOLD": 0}, {"HOROVOD_CYCLE_TIME": 10}
MARKED, LATE = {"HOROVOD_TIMELINE_MARK_CYCLES": 1}, {"late": 30 * MS, "later": 30 * MS}
# The program, its ranks, and Horovod's settings.
SPECIMENS: Mapping[str, tuple[Callable[[], None], int, Mapping[str, object]]] = {
    "fused": (partial(gradients, [FOUR] * 3), 4, PATIENT),
    "unfused": (partial(gradients, [FOUR]), 4, UNFUSED),
    "a threshold": (partial(gradients, [FOUR] * 2), 2, PATIENT | {"HOROVOD_FUSION_THRESHOLD": 1300}),
    "late tensors": (partial(gradients, [FIVE] * 2, LATE), 2, PATIENT | MARKED),
    "one rank": (partial(gradients, [{"c": 1, "a": 1, "b": 1}] * 2), 1, UNFUSED),
    "other operations": (beside, 3, {}),
    "training": (training, 2, {}),
}


def timelines() -> dict[str, Timeline]:
    """The timeline of each specimen, from runs on this machine."""
    return {
        name: run_horovod(program, ranks=ranks, timeline=True, settings=settings).timeline
        for name, (program, ranks, settings) in SPECIMENS.items()
    }
