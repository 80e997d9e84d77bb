"""One failure, two ways to go on, on four ranks of the virtual cluster: back to the last commit, as Elastic Horovod; or
per step, as torchft. Each rank stands for a replica group.

Group 2 dies in step 7, and is there again when the others have made 9 steps. Elastic lets it in at a commit.
Sources: github.com/horovod/horovod, docs/elastic.rst ("The reset process"): restore, rendezvous, the state from worker
0, the training function anew; github.com/pytorch/torchft at 73dafea, torchft/manager.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.data_parallel.fault_tolerant import healed
from lockstep.tables import Table
from lockstep.worlds import run

GROUPS, STEPS, DIES, GONE, BACK, RATE = 4, 12, 7, 2, 9, 0.1
EVERYBODY, LEFT = list(range(GROUPS)), [r for r in range(GROUPS) if r != GONE]

Adds = Callable[[Sequence[int], int], float]  # (steps in each group's weights, one of them) -> its gradient's factor
Tries = Sequence[tuple[list[int], bool]]  # who is there, and whether one dies in it
Found = dict[str, Any]


def average(steps: Sequence[int], me: int) -> float:
    """Those that are up to date add the same, all others nothing."""
    return (steps[me] == max(steps)) / steps.count(max(steps))


def gradient(w: Tensor) -> Tensor:
    return w - dist.get_rank()


def per_step(adds: Adds) -> Found:
    """A program for each rank: what it did in each try of a step, and what that cost."""
    tries: Tries = [(EVERYBODY, False)] * DIES + [(EVERYBODY, True)]
    tries = [*tries, *[(LEFT, False)] * (BACK - DIES), *[(EVERYBODY, False)] * (STEPS - BACK)]
    me, w, made = dist.get_rank(), torch.zeros(1), 0
    found: Found = {"rows": [], "computed": 0, "received": 0, "anew": 0}
    groups = {len(there): dist.new_group(there) for there in (EVERYBODY, LEFT)}
    for there, dies in tries:
        if me not in there or (dies and me == GONE):
            w, made = torch.full((1,), torch.nan), 0  # its memory is lost
            continue
        if dies:
            found["computed"] += 1
            found["rows"].append({"steps": [made] * GROUPS, "adds": [], "kept": False, "w": w.item()})
            continue
        group, place = groups[len(there)], there.index(me)
        steps = _gathered(made, group)
        factor = adds(steps, place)
        share = factor * gradient(w) if factor else torch.zeros(1)
        found["computed"] += bool(factor)
        found["received"] += made < max(steps)
        w = healed(w, steps, group)
        dist.all_reduce(share, group=group)
        w, made = w - RATE * share, max(steps) + 1
        known = dict(zip(there, steps, strict=True))
        told = [known.get(g) for g in EVERYBODY]
        found["rows"].append(
            {"steps": told, "adds": [adds(steps, n) for n in range(len(there))], "kept": True, "w": w.item()}
        )
    return found


def _gathered(made: int, group: Any) -> list[int]:
    held: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(held, made, group=group)
    return held


def elastic(every: int) -> Found:
    """A program for each rank, with a commit after ``every`` steps: what it did, and what that cost."""
    me, w, made, copy = dist.get_rank(), torch.zeros(1), 0, (0, torch.zeros(1))
    found: Found = {"rows": [], "computed": 0, "received": 0, "anew": 0}
    groups = {len(there): dist.new_group(there) for there in (EVERYBODY, LEFT)}
    there, dead = EVERYBODY, False
    while made < STEPS:
        if me in there:
            found["computed"] += not (made == DIES and not dead and me == GONE)
        if made == DIES and not dead:  # the all-reduce fails: all go back to their copies
            dead, there, (made, w) = True, LEFT, copy
            w = _anew(w, groups[len(there)], found) if me in there else w
            continue
        if me in there:
            share = gradient(w) / len(there)
            dist.all_reduce(share, group=groups[len(there)])
            w = w - RATE * share
        made += 1
        if made % every == 0:
            copy = made, w.clone()
            if dead and there == LEFT and made >= BACK:  # who has come is let in at a commit
                there = EVERYBODY
                w = _anew(w, groups[len(there)], found)
    return found | {"w": w.item()}


def _anew(w: Tensor, group: Any, found: Found) -> Tensor:
    """After a rendezvous the state of worker 0 goes to all, and the training function begins anew."""
    w = w.clone()
    dist.broadcast(w, group=group, group_src=0)
    found["anew"] += 1
    found["received"] += dist.get_rank(group) != 0
    return w


def compared_table(every: int = 5) -> Table:
    """What the same failure costs, counted in a run of each."""
    ways = [
        run(elastic, every, ranks=GROUPS, on="virtual").values,
        run(per_step, average, ranks=GROUPS, on="virtual").values,
    ]
    computed = [sum(found["computed"] for found in of_ranks) for of_ranks in ways]
    rows = [
        ["steps whose work is lost", *(f"{of_ranks[0]['computed'] - STEPS}" for of_ranks in ways)],
        ["gradients computed", *map(str, computed)],
        ["times that train begins anew", *(f"{of_ranks[0]['anew']}" for of_ranks in ways)],
        ["weights that a rank is sent", *(f"{sum(found['received'] for found in of_ranks)}" for of_ranks in ways)],
    ]
    head = ["", f"back to a commit, every {every} steps", "per step"]
    return Table(f"Of {GROUPS} groups one dies in step {DIES}, and comes back: {STEPS} steps", head, rows)


def quorums_table(adds: Adds) -> Table:
    """Around the failure: who is there, with how many steps, and what each adds, by the line ``adds``."""
    rows = run(per_step, adds, ranks=GROUPS, on="virtual").values[0]["rows"][DIES - 1 : -1]
    told = [[*map(_step, row["steps"]), _added(row), "yes" if row["kept"] else "no", f"{row['w']:.4f}"] for row in rows]
    head = [*(f"group {g} has steps" for g in EVERYBODY), "each of these adds", "kept", "group 0's weight"]
    return Table("By your line: one group dies, and comes back", head, told)


def _step(made: int | None) -> str:
    return "–" if made is None else f"{made}"


def _added(row: Found) -> str:
    return ", ".join(f"{factor:.3g}" for factor in row["adds"]) or "nothing: a sum failed"
