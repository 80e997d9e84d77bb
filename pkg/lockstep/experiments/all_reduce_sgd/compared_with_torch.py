"""BucketedDDP against torch's DistributedDataParallel and one rank with the whole batch: the same gradients and bytes.

Each program trains two steps with momentum, in float64, twice on K ranks and once on one. Batch normalisation has no
one-rank run to compare with: each rank normalises its own share. With ``find_unused_parameters`` torch adds an
all-reduce of an int32 for each parameter in each step: which ranks have used it. Where none has, it leaves None, ours
zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from lockstep.data_parallel.ddp import MEGABYTE, BucketedDDP
from lockstep.events import Event
from lockstep.models import batch_normed, linear, mlp, tied
from lockstep.tables import Table
from lockstep.worlds import run

EXAMPLES, WIDTH, STEPS = 72, 7, 2
BUCKET_BYTES = 100

State = list[Tensor]  # the gradients of the last step, and what it left of parameters and buffers


class Branches(nn.Module):
    """Three layers. ``used``: by each rank the first one; or "by turns", by what its first example is."""

    def __init__(self, used: str) -> None:
        super().__init__()
        self.layers = nn.ModuleList(linear(WIDTH, 3, 0, index, torch.float64) for index in range(3))
        self.used = used

    def forward(self, x: Tensor) -> Tensor:
        chosen = int(x[0, 0] > 0) if self.used == "by turns" else 0
        hidden: Tensor = self.layers[chosen](x)
        return hidden


@dataclass(frozen=True)
class Program:
    """``passes``: backward passes of a step, all but the last without synchronisation. ``alone``: what one rank has to
    do for the same result: take the "batch", or the "shares" of all ranks one by one, or "" if nothing helps."""

    build: Callable[[], nn.Module]
    passes: int = 1
    unused: bool = False
    alone: str = "batch"


PROGRAMS: Mapping[str, Program] = {
    "two layers": Program(lambda: mlp([WIDTH, 5, 3], dtype=torch.float64)),
    "a matrix used twice": Program(lambda: tied(WIDTH, dtype=torch.float64)),
    "layers that no rank uses": Program(lambda: Branches("the first"), unused=True),
    "layers that some ranks use": Program(lambda: Branches("by turns"), unused=True, alone="shares"),
    "three backward passes a step": Program(lambda: mlp([WIDTH, 5, 3], dtype=torch.float64), passes=3),
    "batch normalisation": Program(lambda: batch_normed([WIDTH, 5, 3], dtype=torch.float64), alone=""),
}


def beside_torch(ranks: Sequence[int] = (1, 2, 3, 4, 8), on: str = "dgx-a100") -> list[dict[str, Any]]:
    """A row for each program and number of ranks: the largest difference of any number from torch's run and from one
    rank's (None where there is none), bytes of all all-reduces of a rank, and how many of them a step has."""
    rows = []
    for K in ranks:
        ours, theirs = (run(all_programs, name, ranks=K, on=on) for name in ("ours", "torch's"))
        sent, their_sent = (reduced(result.trace.of_rank(0)) for result in (ours, theirs))
        for n, (name, program) in enumerate(PROGRAMS.items()):
            states = [by_program[n] for by_program in ours.values]
            alone = [one_rank(program, K)] * K if program.alone else None
            rows.append(
                {
                    "model": name,
                    "K": K,
                    "from torch's": furthest(states, [by_program[n] for by_program in theirs.values]),
                    "from one rank": furthest(states, alone) if alone else None,
                    "bytes": sum(sent[n]),
                    "torch's bytes": sum(their_sent[n]),
                    "all-reduces a step": len(sent[n]) // STEPS,
                }
            )
    return rows


def beside_torch_table(K: int = 3) -> Table:
    """`beside_torch` on K ranks, in words."""
    head = ["model", "apart from torch's", "apart from one rank", "bytes a rank", "torch's", "all-reduces a step"]
    rows = [
        [row["model"], *(_apart(row[f"from {other}"]) for other in ("torch's", "one rank")),
         *(f"{row[name]:,}" for name in ("bytes", "torch's bytes", "all-reduces a step"))]
        for row in beside_torch((K,))
    ]  # fmt: skip
    return Table(f"BucketedDDP on {K} ranks, two steps with momentum in float64: the largest differences", head, rows)


def _apart(difference: float | None) -> str:
    if difference is None:
        return "another model"
    return f"{difference:.0e}" if difference else "to the bit"


def all_programs(name: str) -> list[State]:
    """On a rank: each program in turn, after a barrier that separates its events from those before."""
    found = []
    for program in PROGRAMS.values():
        dist.barrier()
        share = batch().chunk(dist.get_world_size())[dist.get_rank()]
        model = program.build()
        found.append(trained(model, wrapped(model, program, name), program, share))
    return found


def wrapped(model: nn.Module, program: Program, name: str) -> BucketedDDP | DistributedDataParallel:
    if name == "ours":
        return BucketedDDP(model, BUCKET_BYTES)
    return DistributedDataParallel(model, bucket_cap_mb=BUCKET_BYTES / MEGABYTE, find_unused_parameters=program.unused)


def trained(model: nn.Module, ddp: BucketedDDP | DistributedDataParallel, program: Program, share: Tensor) -> State:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        optimizer.zero_grad()
        *early, last = share.chunk(program.passes)
        with ddp.no_sync():
            for part in early:
                (loss(ddp, part) / program.passes).backward()  # type: ignore[no-untyped-call]
        (loss(ddp, last) / program.passes).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return state_of(model)


def one_rank(program: Program, K: int) -> State:
    """The same steps on one rank."""
    model = program.build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    parts = batch().chunk(K) if program.alone == "shares" else [batch()]
    for _ in range(STEPS):
        optimizer.zero_grad()
        total = torch.stack([loss(model, part) for part in parts]).mean()
        total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return state_of(model)


def loss(model: nn.Module, x: Tensor) -> Tensor:
    squares: Tensor = model(x).square()
    return squares.mean()


def batch() -> Tensor:
    """The first half of the examples has a positive first feature, the second half a negative one."""
    x = torch.randn(EXAMPLES, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    x[:, 0] = torch.where(torch.arange(EXAMPLES) < EXAMPLES // 2, 1.0, -1.0)
    return x


def state_of(model: nn.Module) -> State:
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
    return [t.detach().double().clone() for t in (*gradients, *model.parameters(), *model.buffers())]


def furthest(some: Sequence[State], others: Sequence[State]) -> float:
    """The largest difference of any number on any rank."""
    pairs = [(a, b) for one, other in zip(some, others, strict=True) for a, b in zip(one, other, strict=True)]
    return max((a - b).abs().max().item() for a, b in pairs)


def reduced(events: Sequence[Event]) -> list[list[int]]:
    """The bytes of each all-reduce, program by program."""
    borders = [n for n, e in enumerate(events) if e.kind == "barrier"] + [len(events)]
    return [[e.nbytes for e in events[a:b] if e.kind == "all_reduce"] for a, b in pairwise(borders)]
