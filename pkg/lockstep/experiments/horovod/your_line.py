"""Three programs with one decision left open, which lesson 07 asks for: they run the learner's line.

``negotiation.py``, ``timeline.py`` and ``elastic_training.py`` have the whole of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist

from lockstep.tables import Table
from lockstep.with_horovod.negotiation import broadcast, gathered
from lockstep.with_horovod.timeline import Timeline, spans
from lockstep.worlds import run

Names = list[str]
ReadyNow = Callable[[dict[str, int], int], Names]  # (on how many ranks, how many ranks there are) -> what all sum now
Together = Callable[[tuple[float, float], tuple[float, float]], bool]  # whether two spans belong to one operation
GoesOn = Callable[[int, int], int]  # (the step in which a rank dies, steps between commits) -> the step to go on with

# What becomes ready in each cycle of three ranks, of a model with two branches.
CYCLES: Sequence[Sequence[Names]] = (
    (["head", "left"], ["right"], ["stem"]),
    (["head"], ["right", "left"], ["stem"]),
    (["right"], ["head"], ["left", "stem"]),
)
CARRIED = "GLOO_ALLREDUCE"


def negotiated(of_ranks: Sequence[Sequence[Names]], ready_now: ReadyNow) -> list[Names]:
    """A program for every rank: the names that were all-reduced in each cycle. Rank 0 decides, by ``ready_now``."""
    coming, counts = iter(of_ranks[dist.get_rank()]), Counter[str]()
    held: dict[str, torch.Tensor] = {}
    found: list[Names] = []
    now: Names | None = []
    while now is not None:
        new = next(coming, None)
        held |= {name: torch.ones(1) for name in new or []}
        told = gathered(new, None)
        now = broadcast(_answer(told, counts, ready_now), None)
        for name in now or []:
            dist.all_reduce(held.pop(name))
        found.append(now or [])
    return found[:-1]


def _answer(told: Sequence[Names | None], counts: Counter[str], ready_now: ReadyNow) -> Names | None:
    """On rank 0, the names to all-reduce now; None when no rank has any more cycles."""
    if all(names is None for names in told):
        return None
    counts.update(name for names in told for name in names or [])
    now = ready_now(dict(counts), dist.get_world_size())
    for name in now:
        del counts[name]
    return now


def negotiated_table(ready_now: ReadyNow) -> Table:
    """Three ranks, cycle by cycle: what each reports, and what all sum then."""
    done = run(negotiated, CYCLES, ready_now, ranks=len(CYCLES), on="virtual").values[0]
    rows = [
        [f"{cycle}", *(", ".join(of_rank[cycle]) for of_rank in CYCLES), ", ".join(now) or "–"]
        for cycle, now in enumerate(done)
    ]
    head = ["cycle", *(f"rank {r} tells" for r in range(len(CYCLES))), "all sum"]
    return Table("By your line: who has what ready, and what is summed", head, rows)


def operations_table(together: Together, timeline: Timeline) -> Table:
    """The all-reduces of a timeline, each with the tensors that the line puts together."""
    carried = [span for span in spans(timeline) if span.phase == CARRIED]
    found: list[list[Any]] = []
    for span in carried:
        same = found and together((found[-1][0].begin, found[-1][0].end), (span.begin, span.end))
        found[-1].append(span) if same else found.append([span])
    rows = [[f"{n}", f"{len(of_one)}", _some([s.tensor for s in of_one])] for n, of_one in enumerate(found, 1)]
    head = ["operation", "tensors", "which"]
    return Table(f"By your line: {len(carried)} all-reduces of tensors in {len(found)} operations", head, rows)


def _some(names: Sequence[str]) -> str:
    return ", ".join(sorted(name.removeprefix("allreduce.") for name in names))


def goes_on_table(goes_on: GoesOn, runs: Iterable[Mapping[str, Any]]) -> Table:
    """The line's result next to what was seen: runs have "killed" (a step), "every" and "went on with"."""
    rows = [[f"{r['killed']}", f"{r['every']}", f"{goes_on(r['killed'], r['every'])}", f"{r['went_on']}"] for r in runs]
    return Table("Killed by SIGKILL", ["in step", "a commit every", "your line", "went on with step"], rows)
