"""One training script in several frameworks: what the six steps become, and how many lines they take.

Sources: "Horovod with PyTorch" (horovod.readthedocs.io), ``torch.nn.parallel.DistributedDataParallel`` and torchrun
(docs.pytorch.org), Lightning's Trainer (lightning.ai/docs/pytorch), "Distributed training with TensorFlow"
(tensorflow.org/guide/distributed_training).
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Callable
from typing import Any

from lockstep.experiments.horovod import lightning
from lockstep.tables import Table
from lockstep.with_horovod import script

HEAD = ["", "Horovod", "DDP", "Lightning’s style"]
ROWS = (
    ("who starts the ranks", "horovodrun", "torchrun", "Trainer, torchrun or SLURM"),
    ("init", "hvd.init()", "dist.init_process_group()", "Trainer"),
    ("shard", "DistributedSampler", "DistributedSampler", "Trainer puts it in"),
    ("rate", "yours: hvd.size() · rate", "yours: world size · rate", "yours: trainer.world_size · rate"),
    ("average", "DistributedOptimizer wraps the optimizer", "DistributedDataParallel wraps the model",
     "Trainer wraps the model"),
    ("broadcast", "broadcast_parameters, broadcast_optimizer_state", "DDP, when it is made: the model only",
     "Trainer: as DDP"),
    ("save", "if hvd.rank() == 0", "if dist.get_rank() == 0", "Trainer: rank 0"),
    ("what is fused", "what is ready in a cycle", "buckets, fixed in advance", "as DDP"),
)  # fmt: skip


def statements(fn: Callable[..., Any]) -> list[str]:
    """The lines of a function's body, without docstring, comments and line breaks of style."""
    (found,) = ast.parse(inspect.getsource(fn)).body
    assert isinstance(found, ast.FunctionDef)
    del found.body[0]
    return ast.unparse(found).splitlines()[1:]


def changed(fn: Callable[..., Any]) -> int:
    """How many lines of a function are not in ``script.serial``."""
    return sum(line.startswith("+ ") for line in difflib.ndiff(statements(script.serial), statements(fn)))


def dialects_table() -> Table:
    """What each step becomes, below the number of lines that are new or changed against the serial script."""
    programs = script.distribute, script.ddp, lightning.lightning
    lines = [f"{changed(fn)} of {len(statements(fn))}" for fn in programs]
    lines[-1] += ", and a class of a model"
    return Table("The same training", HEAD, [["lines that are not in the serial script", *lines], *map(list, ROWS)])
