"""The demos that unit 07's lesson runs on Horovod. A demo takes no arguments and returns plain data, so that it can be
recorded, and read where Horovod is missing (``recorded.or_recorded``). No sentence about it depends on times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lockstep.errors import Deadlock
from lockstep.experiments.horovod.out_of_order import out_of_order_horovod
from lockstep.experiments.horovod.six_steps import SHOWS, measured, steps, without
from lockstep.with_horovod.elastic import run_elastic
from lockstep.with_horovod.elastic_training import elastic_state
from lockstep.with_horovod.ranks import run_horovod
from lockstep.with_horovod.timeline import Timeline, fused_tensors

Found = dict[str, Any]

ONE_CYCLE = {"HOROVOD_CYCLE_TIME": 100}  # ms: all that is requested at once is ready in the same cycle
GRADIENTS, LARGE = 20, 9_000  # how many, and the bytes of each
LATE = 0.15  # seconds


# ---- six small steps


def forgotten() -> Found:
    """The results of the whole script on four ranks, and of the script without each of its six parts."""
    whole = measured(steps()[-1].source)._asdict()
    return {"whole": whole, "rows": [{"part": part, **measured(without(part))._asdict()} for part in SHOWS]}


# ---- which order


def started_only() -> list[float]:
    """The lesson's program, in which a is 1 and 2, b is 10 and 20."""
    import horovod.torch as hvd

    mine = 1.0 + hvd.rank()
    return [float(x) for x in out_of_order_horovod(torch.tensor([mine]), torch.tensor([10 * mine]))]


def one_at_a_time() -> None:
    """Two blocking all-reduces, in another order on rank 0: each rank waits for its first before it starts its
    second."""
    import horovod.torch as hvd

    names = ["a", "b"] if hvd.rank() == 0 else ["b", "a"]
    for name in names:
        hvd.allreduce_(torch.ones(2), name=name)


def orders() -> Found:
    """The sums on each rank; and the error when each waits for the other."""
    sums = run_horovod(started_only, ranks=2).values
    told = "nothing"
    try:
        run_horovod(one_at_a_time, ranks=2)
    except Deadlock as deadlock:
        told = str(deadlock)
    return {"sums": sums, "told": told}


# ---- a timeline, and what is fused


def a_training() -> None:
    """Two steps of a network of three layers. The last rank takes longer for its first one."""
    import horovod.torch as hvd

    torch.nn.Linear(64, 64)(torch.ones(8, 64)).sum().backward()  # a process's first backward pass takes long
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(3)])
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.01), model.named_parameters())
    for step in range(2):
        optimizer.zero_grad()
        loss = F.mse_loss(model(torch.ones(8, 64)), torch.zeros(8, 64))
        if step == 0 and hvd.rank() == hvd.size() - 1:
            time.sleep(LATE)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def a_step() -> Found:
    """Horovod's own timeline of that training, on three ranks."""
    ran = run_horovod(a_training, ranks=3, timeline=True, settings={"HOROVOD_CYCLE_TIME": 5})
    return {"timeline": ran.timeline}


def at_once(dtypes: list[str]) -> None:
    """All-reduces of so many gradients of 9,000 bytes, all started before any is waited for."""
    import horovod.torch as hvd

    given: list[Tensor] = []
    for name in dtypes:
        dtype = getattr(torch, name)
        given.append(torch.ones(LARGE // dtype.itemsize, dtype=dtype))
    works = [hvd.allreduce_async_(x, name=f"gradient {n:02}") for n, x in enumerate(given)]
    for work in works:
        hvd.synchronize(work)


SAME, TWO = ["float32"] * GRADIENTS, ["float32", "float64"] * (GRADIENTS // 2)
FUSED: Mapping[str, tuple[list[str], int | None]] = {  # the gradients' types, and the buffer's bytes
    "a buffer of 16,000 bytes": (SAME, 16_000),
    "a buffer of 64,000 bytes": (SAME, 64_000),
    "the default, 128 MiB": (SAME, None),
    "the default, types by turns": (TWO, None),
    "no buffer": (SAME, 0),
}


def fused() -> Found:
    """The number of operations that the gradients are fused into, and how many each carries."""
    rows = []
    for name, (dtypes, threshold) in FUSED.items():
        settings = ONE_CYCLE if threshold is None else {**ONE_CYCLE, "HOROVOD_FUSION_THRESHOLD": threshold}
        operations = fused_tensors(run_horovod(at_once, dtypes, ranks=2, timeline=True, settings=settings).timeline)
        rows.append({"setting": name, "carries": [len(names) for names in operations]})
    return {"gradients": GRADIENTS, "rows": rows}


# ---- fewer bytes, fewer ranks


def compressed(fp16: bool) -> float:
    """The largest relative error of the mean of the ranks' tensors, sent in half precision."""
    import horovod.torch as hvd

    compression = hvd.Compression.fp16 if fp16 else hvd.Compression.none
    drawn = torch.Generator().manual_seed(hvd.rank())
    mine = torch.rand(1000, generator=drawn) + 0.5
    mean = hvd.allreduce(mine, name="gradient", compression=compression)
    exact = hvd.allreduce(mine.double(), name="exact")
    return float(((mean - exact) / exact).abs().max())


def half_precision() -> Found:
    """The dtype in which a float32 gradient was sent, by Horovod's timeline, and the error."""
    rows = []
    for fp16 in (False, True):
        ran = run_horovod(compressed, fp16, ranks=2, timeline=True)
        rows.append({"fp16": fp16, "travelled": travelled(ran.timeline), "error": max(ran.values)})
    return {"rows": rows}


def travelled(timeline: Timeline) -> str:
    """The dtype of the first tensor of the timeline."""
    return next(str(event["args"]["dtype"]) for event in timeline if "dtype" in event.get("args", {}))


def in_pairs() -> list[float]:
    """The sum of all ranks' numbers, and of those of this rank's pair."""
    import horovod.torch as hvd

    pairs = [hvd.add_process_set([first, first + 1]) for first in range(0, hvd.size(), 2)]
    mine = torch.tensor([float(hvd.rank())])
    everyone = hvd.allreduce(mine, name="everyone", op=hvd.Sum)
    pair = hvd.allreduce(mine, name="pair", op=hvd.Sum, process_set=pairs[hvd.rank() // 2])
    return [float(everyone), float(pair)]


def process_sets() -> Found:
    """``in_pairs`` on four ranks, by rank."""
    ran = run_horovod(in_pairs, ranks=4, settings={"HOROVOD_DYNAMIC_PROCESS_SETS": 1})
    return {"rows": ran.values}


# ---- ranks that have finished


def one_more_each() -> list[list[float]]:
    """Rank r makes r + 1 steps, and joins: the sums and the means of ones."""
    import horovod.torch as hvd

    ones = torch.ones(1)
    found = [
        [float(hvd.allreduce(ones, name="sum", op=hvd.Sum)), float(hvd.allreduce(ones, name="mean"))]
        for _ in range(1 + hvd.rank())
    ]
    hvd.join()
    return found


def join() -> Found:
    """What the last rank, which makes most steps, got in each."""
    return {"steps": run_horovod(one_more_each, ranks=3).values[-1]}


# ---- ranks that die, and come


STEPS, ROWS, EVERY = 12, 12, 3


def whole_batches() -> list[tuple[Tensor, Tensor]]:
    """The batches that all ranks together train on, step by step."""
    drawn = torch.Generator().manual_seed(7)
    x = torch.randn(STEPS, ROWS, 4, generator=drawn, dtype=torch.float64)
    y = torch.randn(STEPS, ROWS, 1, generator=drawn, dtype=torch.float64)
    return list(zip(x, y, strict=True))


def begun(seed: int) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    model = torch.nn.Linear(4, 1, dtype=torch.float64)
    return model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def survivor(batches: Sequence[tuple[Tensor, Tensor]], every: int) -> list[float]:
    """The parameters that a worker ends with. Each begins with others; rank 0's count."""
    import horovod.torch as hvd

    return parameters(elastic_state(*begun(hvd.rank()), batches, every))


def parameters(model: torch.nn.Module) -> list[float]:
    return [float(v) for p in model.parameters() for v in p.detach().flatten()]


def serially() -> list[float]:
    model, optimizer = begun(0)
    for x, y in whole_batches():
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return parameters(model)


def elastic() -> Found:
    """Three workers, one of which is killed; then two, to which one is added before one is killed."""
    runs = []
    for kill, add, workers in (({1: 7}, None, 3), ({2: 5}, None, 3), ({1: 10}, 4, 2)):
        account = run_elastic(survivor, whole_batches(), EVERY, workers=workers, kill=kill, add=add)
        off = max(abs(a - b) for value in account.values.values() for a, b in zip(value, serially(), strict=True))
        taken = [event for event in account.of("step") if event["worker"] == 0]
        runs.append({
            "killed": next(iter(kill.values())), "every": EVERY, "went_on": went_on(taken),
            "steps": [event["step"] for event in taken], "sizes": [event["size"] for event in taken],
            "commits": sum(event["worker"] == 0 for event in account.of("commit")), "same": off < 1e-6,
        })  # fmt: skip
    return {"runs": runs}


def went_on(taken: Sequence[Mapping[str, Any]]) -> int:
    """The first step that a worker repeats."""
    steps = [int(event["step"]) for event in taken]
    return next(after for before, after in pairwise(steps) if after <= before)


DEMOS: dict[str, Callable[[], Any]] = {
    "forgotten": forgotten,
    "orders": orders,
    "a_step": a_step,
    "fused": fused,
    "half_precision": half_precision,
    "process_sets": process_sets,
    "join": join,
    "elastic": elastic,
}
