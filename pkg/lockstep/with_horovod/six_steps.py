"""From the serial script to Horovod in six small steps, and what happens without each of them: measured, on ranks.

Each step is a change of ``script.distribute`` back to what ``script.serial`` does; the source is changed, and run.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch.distributed as dist
from torch.utils.data import RandomSampler

from lockstep.launch import server
from lockstep.with_horovod import script
from lockstep.with_horovod.available import MODULES, require
from lockstep.with_horovod.observed import Evidence, observed
from lockstep.with_horovod.task import Task
from lockstep.worlds import run

# By step, what of the source becomes what.
STEPS: Mapping[str, Mapping[str, str]] = {
    "init": {"    hvd.init()\n": ""},
    "shard": {
        "DistributedSampler(dataset, hvd.size(), hvd.rank())": "RandomSampler(dataset)",
        "        sampler.set_epoch(epoch)\n": "",
    },
    "rate": {"lr=hvd.size() * rate": "lr=rate"},
    "average": {"    optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())\n": ""},
    "broadcast": {
        "    hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n": "",
        "    hvd.broadcast_optimizer_state(optimizer, root_rank=0)\n": "",
    },
    "save": {"    if hvd.rank() == 0:\n": "    if True:\n"},
}
TASK = Task(seed=3, ranks=3)


def without(step: str) -> str:
    """The source of ``script.distribute`` without this step; with all of them for ""."""
    source = inspect.getsource(script.distribute)
    for old, new in STEPS.get(step, {}).items():
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def trained(step: str) -> Evidence | str:
    """On a rank of ``torch.distributed``: what it did without this step; or, in a sentence, why it could not."""
    scope: dict[str, Any] = {**vars(script), "RandomSampler": RandomSampler}
    exec(without(step), scope)
    try:
        return observed(scope["distribute"], TASK.arguments(dist.get_rank()), horovod=step != "init")
    except ValueError as error:
        return str(error)


def all_trained() -> list[Evidence | str]:
    """The whole script first, then without each step: one after the other, in the same processes."""
    return [trained(step) for step in ("", *STEPS)]


def all_forgotten() -> dict[str, Any]:
    """What three ranks did with the whole script (``step`` is ""), and without each step, as plain data.

    error      what the script raised, or ""
    alike      whether all ranks ended with the same weights
    apart      the largest difference between the weights of two ranks
    passes     batches that a rank went through in an epoch
    twice      examples that were used more than once in the first epoch, by all ranks together
    moved      how far the first step moved the weights, by the largest of them
    saves      on how many ranks the model was saved
    """
    require()
    server.warm_up(MODULES)
    of_ranks = run(all_trained, ranks=TASK.ranks, on="processes").values
    rows = [facts(step, seen) for step, *seen in zip(("", *STEPS), *of_ranks, strict=True)]
    return {"examples": TASK.rows, "rows": rows}


def facts(step: str, seen: Sequence[Evidence | str]) -> dict[str, Any]:
    """Of one script."""
    if isinstance(seen[0], str):
        return {"step": step, "error": seen[0], "alike": True, "apart": 0.0, "passes": 0, "twice": 0, "moved": 0.0,
                "saves": 0}  # fmt: skip
    ends = [one["returned"] for one in seen if not isinstance(one, str)]
    apart = max(float((end - ends[0]).abs().max()) for end in ends)
    states, rows = seen[0]["states"], seen[0]["rows"]
    return {
        "step": step, "error": "", "alike": apart < 1e-9, "apart": apart, "passes": len(rows) // TASK.epochs,
        "twice": _twice(seen), "moved": float((states[1] - states[0]).abs().max()),
        "saves": sum(bool(one["saved"]) for one in seen if not isinstance(one, str)),
    }  # fmt: skip


def _twice(seen: Sequence[Evidence | str]) -> int:
    evidence = [one for one in seen if not isinstance(one, str)]
    passes = len(evidence[0]["rows"]) // TASK.epochs
    used = Counter(row for one in evidence for batch in one["rows"][:passes] for row in batch)
    return sum(number > 1 for number in used.values())
