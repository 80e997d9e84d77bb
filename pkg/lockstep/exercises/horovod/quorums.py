"""Quorums for one fault-tolerant step: who is up to date, whose all-reduce fails, whose group decides against the step;
and an all-reduce, a vote and a gradient that note how they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.checks.case import DTYPES, Case, generator
from lockstep.checks.evidence_rules import Evidence
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.wording import counted, listed

RATE = 1 / 16
FINE = {"float64": 2.0**-30, "float32": 2.0**-12}  # which float32, and bfloat16, cannot hold
# Ranks of the world; steps of the group's ranks; by their places there, those whose all-reduce fails, and those whose
# replica group is against the step although all went well on them; what the weights that are behind are.
Tried = tuple[int, list[int], Mapping[str, Any]]
TRIED: tuple[Tried, ...] = (
    (1, [7], {}),
    (1, [7], {"fails": [0]}),
    (2, [3, 3], {}),
    (2, [4, 5], {}),
    (2, [9, 6], {"fails": [1], "old": "finite"}),
    (3, [5, 5, 5], {"shape": (3, 2)}),
    (3, [6, 2, 6], {"old": "zeros", "shape": ()}),
    (3, [8, 8], {"group": (0, 2), "against": [1]}),
    (4, [5, 7, 7, 1], {"dtype": "float32"}),
    (4, [2, 2, 2, 2], {"fails": [2], "against": [0]}),
    (4, [7, 9, 9], {"group": (0, 2, 3), "fails": [0], "old": "finite"}),
    (5, [1, 3, 0, 3, 3], {"against": [0], "fails": [4]}),
    (5, [4, 4, 6, 4], {"group": (0, 1, 3, 4), "shape": (2, 2)}),
)


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(steps, more) for world, steps, more in TRIED if world == ranks]
    return [_case(ranks, seed + n, steps, dict(more)) for n, (steps, more) in enumerate(rows)]


def _case(ranks: int, seed: int, steps: list[int], more: dict[str, Any]) -> Case:
    """It says what is special: who has died is not in the group."""
    group = more.pop("group", None)
    members = group or range(ranks)
    settings = {"dtype": "float64", "old": "nan", "shape": (4,), "fails": [], "against": [], "steps": steps, **more}
    told = [str(Case(ranks, seed, group, {})), *[settings["dtype"]] * ("dtype" in more), f"steps={steps}"]
    told += [f"an all-reduce that fails on rank {members[n]}" for n in settings["fails"]]
    told += [f"another rank of rank {members[n]}'s replica group against the step" for n in settings["against"]]
    return Case(ranks, seed, group, {**settings, "told": ", ".join(told), "trivial": False})


def up_to_date(case: Case) -> list[int]:
    """Global ranks."""
    steps = case.settings["steps"]
    return [rank for rank, made in zip(case.members, steps, strict=True) if made == max(steps)]


def newest(case: Case) -> Tensor:
    dtype = DTYPES[case.settings["dtype"]]
    w = torch.randint(-8, 9, case.settings["shape"], generator=generator(case, -1)).to(dtype) / 4
    return w + FINE[case.settings["dtype"]]


def weights(case: Case, rank: int) -> Tensor:
    """With which ``rank`` begins. Of no use where it is behind: nan, zeros, or other numbers."""
    w = newest(case)
    if rank in up_to_date(case):
        return w
    other = torch.randint(1, 9, w.shape, generator=generator(case, rank)).to(w.dtype)
    return {"nan": torch.full_like(w, torch.nan), "zeros": torch.zeros_like(w)}.get(case.settings["old"], other)


@dataclass
class Slope:
    """The gradient of a parabola. With a multiple of n as curvature the mean over n ranks is exact."""

    curvature: float
    middle: Tensor

    def __call__(self, w: Tensor) -> Tensor:
        return self.curvature * (w - self.middle.to(w.device))


@dataclass
class AllReduce:
    """Sums over ``group``. Where it ``fails`` others have their sum, and here is garbage."""

    fails: bool
    group: Any = None
    calls: list[int] = field(default_factory=list)  # elements of each

    def __call__(self, tensor: Tensor) -> None:
        self.calls.append(tensor.numel())
        dist.all_reduce(tensor, group=self.group)
        if self.fails:
            tensor.fill_(torch.nan)
            raise RuntimeError("this all-reduce has failed: a connection was closed")


@dataclass
class Vote:
    """The decision of a replica group in which the other ranks vote ``others``."""

    others: bool
    reduced: AllReduce
    cast: list[tuple[bool, int]] = field(default_factory=list)  # each vote, and after how many all-reduces

    def __call__(self, well: bool) -> bool:
        self.cast.append((bool(well), len(self.reduced.calls)))
        return bool(well) and self.others


def inputs(case: Case, rank: int) -> tuple[Tensor, Slope, float, list[int], AllReduce, Vote]:
    place = case.members.index(rank) if rank in case.members else -1
    drawn = torch.randint(-8, 9, case.settings["shape"], generator=generator(case, 100 + rank))
    middle = (drawn / 2).to(DTYPES[case.settings["dtype"]])
    slope = Slope(len(up_to_date(case)) * (1 + rank % 2), middle)
    reduce = AllReduce(place in case.settings["fails"])
    return (
        weights(case, rank),
        slope,
        RATE,
        list(case.settings["steps"]),
        reduce,
        Vote(well_elsewhere(case, rank), reduce),
    )


def well_elsewhere(case: Case, rank: int) -> bool:
    """Whether the other ranks of its replica group vote True."""
    return rank in case.members and case.members.index(rank) not in case.settings["against"]


def decision(case: Case, rank: int) -> bool:
    return well_elsewhere(case, rank) and case.members.index(rank) not in case.settings["fails"]


def wanted(case: Case, rank: int) -> tuple[Tensor, int]:
    """Of ``rank``, the weights and how many steps are in them."""
    w, most, able = newest(case), max(case.settings["steps"]), up_to_date(case)
    if not decision(case, rank):
        return w, most
    total = torch.stack([inputs(case, r)[1](w) for r in able]).sum(0)
    return w - RATE * (total / len(able)), most + 1


def told_gradients(case: Case, held: Mapping[int, Tensor], close: Callable[[Tensor, Tensor], bool]) -> str:
    """Whose gradients are in the step of these ranks, and by what they are divided, if one answer fits them all and it
    is not the right one. ``held``: their weights."""
    w, able = newest(case), up_to_date(case)
    gradients = {rank: inputs(case, rank)[1](w) for rank in case.members}
    fitting = [
        (who, n)
        for size in range(case.size + 1)
        for who in combinations(case.members, size)
        for n in (range(1, case.size + 1) if who else (1,))
        if all(close(mine, w - RATE * (sum((gradients[rank] for rank in who), 0 * w) / n)) for mine in held.values())
    ]
    if len(fitting) != 1 or not held:
        return ""
    ((who, n),) = fitting
    whose = f"the gradients of {_named(who)}, divided by {n}" if who else "nobody's gradient"
    right = f"it takes those of {_named(able)}, divided by {len(able)}"
    return f"In the step of {_named(tuple(held))} there {'are' if who else 'is'} {whose}; {right}."


def _named(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {listed(ranks)}"


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
    """What it returns, and how often and in which order it reduced and voted."""
    *_, reduce, vote = arguments
    reduce.group = getattr(fn, "keywords", {}).get("group")
    vote.reduced = reduce
    pair = fn(*arguments)
    return {"pair": plain(pair), "reduced": reduce.calls, "votes": [list(one) for one in vote.cast]}


def evidence(seen: Seen) -> list[Evidence]:
    """Of each member of the group, what rules may ask."""
    rows = []
    for rank in seen.case.members:
        found, (_, right) = seen.returned[rank], wanted(seen.case, rank)
        pair, votes = found["pair"], found["votes"]
        is_pair = isinstance(pair, list) and len(pair) == 2
        count = pair[1] if is_pair else None
        is_count = type(count) is int  # a bool is none
        failed = seen.case.members.index(rank) in seen.case.settings["fails"]
        rows.append({
            "rank": rank, "pair": pair, "is_pair": is_pair, "count": count, "is_count": is_count, "right": right,
            "most": max(seen.case.settings["steps"]), "kept": decision(seen.case, rank),
            "failed": failed, "reduced": found["reduced"],
            "steps": counted(count, "step") if isinstance(count, int) else "", "votes": [well for well, _ in votes],
            "early": any(not after for _, after in votes) and bool(found["reduced"]),
        })  # fmt: skip
    return rows
