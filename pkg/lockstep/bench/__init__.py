"""Lockstep beside its peers: each benchmark is one command, measures everything in one run, and prints ratios.

Seconds differ from machine to machine and from minute to minute; ratios do so less, if what is compared takes turns:
A B A B A B, and the median of each. No benchmark says that it passed. Read the tables.

``launch``       how long until a function of 4 ranks has its first result, beside torchrun and others
``virtual``      what a message costs the host on the virtual cluster, from 4 ranks to 1,024; how far its times are off;
                 or ``against`` an older commit: whether it has become slower
``collectives``  the reference algorithms beside gloo's own all-reduce, on processes
``predict``      what the virtual cluster and the cost model predict, beside what was measured
``ddp``          a training step of the course's DDP beside one of torch's, on processes
``sharded``      a training step of the course's FullySharded beside one of torch's fully_shard, on processes
``pipeline``     a training step of the course's pipeline beside one of torch.distributed.pipelining, on processes
``tensor``       a training step of the course's tensor parallelism beside torch's parallelize_module, on processes
``hogwild``      threads that train one model without a lock beside the same threads with one
``grade``        ``lockstep grade`` beside ``nbgrader autograde``: notebooks a minute
``simt``         the warp machine beside numba's own CUDA simulator
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from lockstep.bench.table import Table
from lockstep.bench.timing import Size
from lockstep.errors import UsageError

__all__ = ["NAMES", "Size", "Table", "measure"]

NAMES = (
    "launch",
    "virtual",
    "collectives",
    "predict",
    "ddp",
    "sharded",
    "pipeline",
    "tensor",
    "experts",
    "hogwild",
    "grade",
    "simt",
)


def measure(name: str, size: Size = "normal", against: str | None = None) -> list[Table]:
    """Run the benchmark ``name`` (one of NAMES) now. ``size``: "quick" shows that it works, "full" takes minutes.

    ``against``: a commit of git, whose Lockstep is measured in turn with this one. Only ``virtual`` has that.
    Raises UsageError for another name, WorldUnavailable when this machine cannot do it.
    """
    if name not in NAMES:
        raise UsageError(f"There is no benchmark named {name!r}.", f"Choose one of: {', '.join(NAMES)}.")
    if against is not None:
        return [_against(name, against, size)]
    made: Callable[[Size], list[Table]] = importlib.import_module(f"lockstep.bench.{name}").tables
    return made(size)


def _against(name: str, commit: str, size: Size) -> Table:
    if name != "virtual":
        raise UsageError(
            f"`lockstep bench {name}` has no --against.", "Write `lockstep bench virtual --against COMMIT`."
        )
    from lockstep.bench import against

    return against.table(commit, size)
