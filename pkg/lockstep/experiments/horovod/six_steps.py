"""From the serial script to the distributed one in six small steps that all run; and what each of them is there for.

The listings are made from the source of ``serial`` in script.py: each step replaces lines of it, and the last listing
is the source of ``distribute``. So the code that a lesson shows is the code that runs.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
import torch.nn.functional as F

from lockstep.errors import UsageError
from lockstep.experiments.horovod.observed_script import Evidence, observed
from lockstep.experiments.horovod.task import Network, Task
from lockstep.forking import starter
from lockstep.with_horovod import script
from lockstep.with_horovod.available import MODULES, require
from lockstep.worlds import run

HEAD = "def train(model, dataset, checkpoint, epochs, batch, rate, save):\n"
TASK = Task(seed=7, ranks=4, batch=2, steps=4, epochs=4, frozen=True, rate=1 / 256)

OPTIMIZER = "    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)\n"
CHECKPOINT = "    if checkpoint:\n"
LOADED = '        optimizer.load_state_dict(checkpoint["optimizer"])\n'
EPOCHS = "    for epoch in range(epochs):\n"
SAVE = '    save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})\n'


class Change(NamedTuple):
    """An edit of the listing. ``part`` is its name. ``old`` occurs once in the listing."""

    part: str
    old: str
    new: str


@dataclass(frozen=True)
class Step:
    title: str
    why: str
    changes: Sequence[Change]


STEPS = (
    Step(
        "Start Horovod",
        "Each process learns its rank and how many there are. Nothing else changes yet: each trains a model of its own "
        "on all rows.",
        [Change("init", HEAD, f"{HEAD}    import horovod.torch as hvd\n\n    hvd.init()\n")],
    ),
    Step(
        "Share the rows",
        "The sampler shuffles on all ranks alike and gives each rank another part. It does so from a seed and the "
        "number of the epoch, which somebody has to tell it.",
        [
            Change("sampler", EPOCHS, f"    sampler = DistributedSampler(dataset, hvd.size(), hvd.rank())\n{EPOCHS}"),
            Change("set_epoch", EPOCHS, f"{EPOCHS}        sampler.set_epoch(epoch)\n"),
            Change(
                "sampler", "DataLoader(dataset, batch, shuffle=True)", "DataLoader(dataset, batch, sampler=sampler)"
            ),
        ],
    ),
    Step(
        "Average the gradients",
        "The new optimizer all-reduces each gradient as soon as the backward pass has it, and waits in step() until "
        "all have come.",
        [
            Change(
                "wrap",
                CHECKPOINT,
                "    optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())\n" + CHECKPOINT,
            )
        ],
    ),
    Step(
        "Begin alike",
        "Equal updates keep models equal only if they begin so: with rank 0's parameters and buffers, and with its "
        "momentum.",
        [
            Change(
                "broadcast",
                LOADED,
                f"{LOADED}    hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n"
                "    hvd.broadcast_optimizer_state(optimizer, root_rank=0)\n",
            )
        ],
    ),
    Step(
        "Scale the rate",
        "A step now stands for K times as many rows, so there are fewer of them. K times the rate makes up for that, "
        "as long as K is not too large.",
        [Change("rate", "lr=rate,", "lr=hvd.size() * rate,")],
    ),
    Step(
        "Save on rank 0",
        "All ranks have the same model. If all wrote it to the same file, they would write over each other.",
        [Change("save", SAVE, f"    if hvd.rank() == 0:\n    {SAVE}")],
    ),
)
PARTS = tuple(dict.fromkeys(change.part for step in STEPS for change in step.changes))


@dataclass(frozen=True)
class Stage:
    """The script after a step; ``number`` 0 is the serial one. ``source`` is that of a function ``train``."""

    number: int
    title: str
    why: str
    source: str
    before: str

    @property
    def difference(self) -> str:
        """The listing as a diff: "+ " before lines that are new, "- " before those that are gone, " " before the
        others."""
        lines = difflib.ndiff(self.before.splitlines(), self.source.splitlines())
        return "\n".join(line.rstrip() for line in lines if not line.startswith("?"))


def steps() -> list[Stage]:
    """The serial script, and the script after each of the six steps."""
    source = listing(script.serial)
    found = [Stage(0, "Serial", "One process, all rows.", source, source)]
    for number, step in enumerate(STEPS, start=1):
        before, source = source, _changed(source, step.changes)
        found.append(Stage(number, step.title, step.why, source, before))
    return found


def without(part: str) -> str:
    """The listing of the whole script without one of ``PARTS``. Without the sampler, set_epoch goes, too."""
    if part not in PARTS:
        raise UsageError(f"There is no part {part!r} of the script.", f"Its parts are {', '.join(PARTS)}.")
    left_out = {part, "set_epoch"} if part == "sampler" else {part}
    changes = chain.from_iterable(step.changes for step in STEPS)
    return _changed(listing(script.serial), [change for change in changes if change.part not in left_out])


def listing(function: Callable[..., Any]) -> str:
    """The source of a script as ``train``: without types, docstring and marks for ruff."""
    lines = inspect.getsource(function).splitlines(keepends=True)
    begin = next(n for n, line in enumerate(lines) if line.rstrip().endswith('"""')) + 1
    return HEAD + "".join(line.replace("  # noqa: B007", "") for line in lines[begin:])


def _changed(source: str, changes: Sequence[Change]) -> str:
    for change in changes:
        assert source.count(change.old) == 1, change
        source = source.replace(change.old, change.new)
    return source


# ---- what a script does


class Measured(NamedTuple):
    """What a script does on the ranks of ``TASK``.

    times: how many ranks see a row in the first epoch, at most. orders: in how many orders rank 0 takes its rows, of
    four epochs. spread: how far a number of one rank's model is from the same one of another's, at most, at the end.
    loss: of rank 0's model on all rows, at the end. files: calls of save on all ranks.
    """

    times: int
    orders: int
    spread: float
    loss: float
    files: int


SHOWS = {"sampler": "times", "set_epoch": "orders", "wrap": "spread", "broadcast": "spread", "rate": "loss",
         "save": "files"}  # fmt: skip


class Forgotten(NamedTuple):
    """What goes wrong without a part. ``what``: the field of `Measured` that shows it; its values ``without`` the part,
    and of the ``whole`` script."""

    part: str
    what: str
    without: float
    whole: float


def forgotten(part: str) -> Forgotten:
    """What goes wrong on 4 ranks of Horovod when the script lacks that part: one of "sampler", "set_epoch", "wrap",
    "broadcast", "rate", "save". Raises UsageError for any other, WorldUnavailable where Horovod is missing."""
    if part not in SHOWS:
        raise UsageError(f"{part!r} cannot be forgotten.", f"There are {', '.join(SHOWS)}.")
    lacking, whole = measured(without(part)), measured(steps()[-1].source)
    return Forgotten(part, SHOWS[part], getattr(lacking, SHOWS[part]), getattr(whole, SHOWS[part]))


@cache
def measured(source: str) -> Measured:
    """Run the listing of a script, such as ``steps()[2].source``, and measure it. Loss and spread are rounded to 6
    digits, since the order of summands may differ from run to run. Each listing is run once in a session."""
    seen = evidence(source)
    epoch = TASK.rows // TASK.ranks if len(seen[0]["rows"]) == TASK.epochs * TASK.steps else TASK.rows
    by_rank = [list(chain.from_iterable(one["rows"])) for one in seen]
    firsts = [row for rows in by_rank for row in set(rows[:epoch])]
    models = torch.stack([one["returned"] for one in seen])
    return Measured(
        times=max(firsts.count(row) for row in set(firsts)),
        orders=len(set(_parts(by_rank[0], epoch))),
        spread=_rounded(float((models.amax(0) - models.amin(0)).max())),
        loss=_rounded(_loss(models[0])),
        files=sum(len(one["saved"]) for one in seen),
    )


def evidence(source: str, task: Task = TASK) -> list[Evidence]:
    """The observations of a listing on the ranks of a task, by rank. Raises WorldUnavailable where Horovod is
    missing."""
    require()
    starter.warm_up(MODULES)
    return list(run(_on_rank, source, task, ranks=task.ranks, on="processes").values)


def _on_rank(source: str, task: Task) -> Evidence:
    return observed(compiled(source), task.arguments(dist.get_rank()))


def compiled(source: str) -> Callable[..., Any]:
    """The function ``train`` of a listing, with the globals of script.py's imports."""
    names = dict(vars(script))
    exec(compile(source, "<a step of the script>", "exec"), names)
    train: Callable[..., Any] = names["train"]
    return train


def _parts(rows: list[int], each: int) -> Iterator[tuple[int, ...]]:
    return (tuple(rows[n : n + each]) for n in range(0, len(rows), each))


def _loss(numbers: torch.Tensor) -> float:
    model: Network = TASK.at(numbers)
    x, y = TASK.data()
    with torch.no_grad():
        return float(F.mse_loss(model(x), y))


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
