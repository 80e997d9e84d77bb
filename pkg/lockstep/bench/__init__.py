"""Benchmarks of Lockstep against its peers: each is one command, measures everything in one run, and prints ratios.

Seconds differ from machine to machine and from minute to minute; ratios differ less, if what is compared is
interleaved, A B A B A B, and the median of each counts. A benchmark has no verdict: read the tables.

``launch``       how long until a function of 4 ranks has its first result, against torchrun and others
``virtual``      what a message costs the host on the virtual cluster, from 4 ranks to 1,024; how far its times are off;
                 or ``against_commit``: whether it has become slower since an older commit
``collectives``  the reference algorithms against gloo's own all-reduce, on processes
``predict``      what the virtual cluster and the cost model predict, against what was measured
``plan``         what `lockstep plan` predicts, against published steps
``ddp``          a training step of the course's DDP against one of torch's, on processes
``sharded``      a training step of the course's FullySharded against one of torch's fully_shard, on processes
``pipeline``     a training step of the course's pipeline against one of torch.distributed.pipelining, on processes
``tensor``       a training step of the course's tensor parallelism against torch's parallelize_module, on processes
``step``         simulated training steps of up to a trillion parameters, beside the published ones
``experts``      a training step of the course's mixture of experts against one of torch's parts, on processes
``hogwild``      threads that train one model without a lock against the same threads with one
``grade``        ``lockstep grade`` against ``nbgrader autograde``: notebooks a minute
``simt``         the warp machine against numba's own CUDA simulator

Each is the file of that name, with a function ``tables(size)``. The other files are what they share: ``table``,
``timing``, ``on_processes``, ``training_steps`` (of the five that train), ``timed_all_reduces`` (of ``collectives`` and
``predict``); and parts of one each: ``against_commit`` and ``simgrid`` of ``virtual``, ``bus_bandwidth`` of
``predict``, ``otter_grader`` of ``grade``, ``simt_kernels`` of ``simt``.
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
    "plan",
    "ddp",
    "sharded",
    "pipeline",
    "tensor",
    "step",
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
    from lockstep.bench import against_commit

    return against_commit.table(commit, size)
