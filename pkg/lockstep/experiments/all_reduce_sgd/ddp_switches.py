"""torch's DDP and what makes it send less: ``no_sync`` while gradients add up, and a hook that sends bfloat16.

    accumulation   a batch in parts: all but the last backward pass are within no_sync(), and only the last one sends
    autocast       matrix products in bfloat16; weights, gradients and what DDP sends stay float32
    the hook       each bucket is rounded to bfloat16, summed, and copied back into float32

torch takes ``bf16_compress_hook`` under its own name only where NCCL can carry bfloat16, and asks for CUDA. ``halved``
is the same hook under a name of its own: so it runs here.

Sources: torch/nn/parallel/distributed.py, torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py.
"""

# mypy: disable-error-code="no-untyped-call"

from collections.abc import Mapping
from contextlib import nullcontext
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
from torch.futures import Future
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from lockstep import models
from lockstep.datasets import Examples, digits_split
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import run

RANKS, STEPS, PARTS, EXAMPLES = 4, 8, 4, 256  # EXAMPLES: of a rank and a step


class Switches(NamedTuple):
    """What is on."""

    no_sync: bool = False
    autocast: bool = False
    hook: bool = False


WAYS: Mapping[str, Switches] = {
    "DDP": Switches(),
    "no_sync": Switches(no_sync=True),
    "no_sync, autocast": Switches(no_sync=True, autocast=True),
    "no_sync, autocast, bf16 hook": Switches(no_sync=True, autocast=True, hook=True),
}


def backward(model: DistributedDataParallel, x: Tensor, y: Tensor, on: Switches) -> float:
    total = 0.0
    for n, (part, wanted) in enumerate(zip(x.chunk(PARTS), y.chunk(PARTS), strict=True)):
        waits = on.no_sync and n < PARTS - 1
        with model.no_sync() if waits else nullcontext():
            with torch.autocast("cpu", torch.bfloat16, enabled=on.autocast):
                loss = F.cross_entropy(model(part), wanted) / PARTS
            loss.backward()
        total += loss.item()
    return total


def halved(group: dist.ProcessGroup, bucket: dist.GradBucket) -> Future[Tensor]:  # type: ignore[name-defined]
    """torch's ``bf16_compress_hook``. torch reads the annotations, and they may not be strings."""
    return bf16_compress_hook(group, bucket)


def trained(on: Switches, examples: Examples) -> float:
    """A program for every rank: the loss of its last step, by SGD with momentum."""
    model = DistributedDataParallel(models.mlp([64, 64, 10]))
    if on.hook:
        model.register_comm_hook(dist.group.WORLD, halved)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    mine = slice(dist.get_rank(), RANKS * EXAMPLES, RANKS)
    x, y = (of[mine] for of in examples)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = backward(model, x.flatten(1), y, on)
        optimizer.step()
    return loss


def switches_table() -> Table:
    """A training with each of WAYS, on the virtual cluster: all-reduces and bytes of a step, and the loss."""
    examples, _ = digits_split()
    rows = []
    for name, on in counted(list(WAYS.items()), "Training", each=1.0):
        ran = run(trained, on, examples, ranks=RANKS, on="commodity-10g")
        sums = [event.nbytes for event in ran.trace.of_rank(0) if event.kind == "all_reduce"]
        loss = sum(ran.values) / RANKS
        rows.append([name, f"{len(sums) / STEPS:g}", f"{sum(sums) / STEPS / 1e3:.1f} kB", f"{loss:.4f}"])
    head = ["", "all-reduces a step", "together", f"loss in step {STEPS}"]
    return Table(f"{RANKS} ranks, {EXAMPLES} examples each in {PARTS} backward passes", head, rows)
