"""One training script in several frameworks: what the six steps look like in each, and how many lines they take.

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

from lockstep.experiments.horovod.real_programs import LIGHTNING_DDP, Program
from lockstep.tables import Table
from lockstep.with_horovod import script

HEAD = ["", "Horovod", "DDP", "Lightning"]
WORDS = ("strategy", "workers", "TF_CONFIG", "tf.distribute", "random_seed", "world_size")  # a line that knows of ranks
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


def program_lines(program: Program) -> list[str]:
    """The lines of a program, without imports, comments, line breaks of style, and what it reports at its end."""
    found = ast.parse(program.source)
    kept = [one for one in found.body if not isinstance(one, ast.Import | ast.ImportFrom) and not _prints(one)]
    return [line for one in kept for line in ast.unparse(one).splitlines() if line]


def _prints(statement: ast.stmt) -> bool:
    return ast.unparse(statement).startswith("print(")


def know_of_ranks(program: Program) -> int:
    """How many of its lines would not be there, or be others, in a serial program."""
    return sum(any(word in line for word in WORDS) for line in program_lines(program))


def dialects_table() -> Table:
    """Each of the six steps in each framework, below the number of lines that differ from the serial script."""
    lines = [f"{changed(fn)} of {len(statements(fn))}" for fn in (script.distribute, script.ddp)]
    anew = f"written anew; {know_of_ranks(LIGHTNING_DDP)} of {len(program_lines(LIGHTNING_DDP))} know of ranks"
    lines.append(anew)
    return Table("The same training", HEAD, [["lines that are not in the serial script", *lines], *map(list, ROWS)])
