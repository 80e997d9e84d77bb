"""Tensors that become ready on each rank in an order of its own: what is handed in, and what was seen, as evidence."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case, numbers
from lockstep.checks.evidence_rules import Evidence
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import total
from lockstep.checks.wording import counted, listed
from lockstep.events import Event
from lockstep.experiments.horovod.control_messages import control, own_bytes

SMALLEST = 2048  # bytes: names need less
SHAPES = (("float32", 4, "contiguous"), ("float64", 8, "matrix"), ("int64", 8, "contiguous"), ("int32", 4, "matrix"))
LAYERS = ("query", "value", "output", "norm1", "expand", "reduce", "norm2", "gate")
NAMES = tuple(f"encoder.layer7.{layer}.{part}" for layer in LAYERS for part in ("weight", "bias"))


def case_of(ranks: int, seed: int, group: tuple[int, ...] | None, together: bool = False, alike: bool = False) -> Case:
    """``together``: each tensor is ready in the same cycle on all ranks, none in the second one; the last has two more.
    ``alike``: all tensors have one shape.

    Otherwise the ranks have different numbers of cycles, the first of them the fewest. One tensor is ready on the first
    rank in its first cycle, and on the last rank in its last; the last rank begins with nothing.
    """
    draw, K = Random(seed), len(group or range(ranks))
    numbers_of = [4] * (K - 1) + [6] if together else [3, *(draw.randint(4, 5) for _ in range(K - 2)), 6][-K:]
    names = draw.sample(NAMES, 13)
    common = {name: draw.randrange(4) for name in names}
    cycles: list[list[list[str]]] = [[[] for _ in range(number)] for number in numbers_of]
    for seat, of_rank in enumerate(cycles):
        first = 1 if seat == K - 1 > 0 and not together else 0
        for name in draw.sample(names, len(names)):
            at = (0, 2, 2, 3)[common[name]] if together else draw.randrange(first, len(of_rank))
            extreme = name == names[0] and not together
            of_rank[(0 if seat == 0 else -1) if extreme else at].append(name)
    where = f"the group {list(group)} of {ranks} ranks" if group else counted(ranks, "rank")
    shapes = ", all tensors of one shape" if alike else ""
    told = f"{where}, {len(names)} tensors, {listed(numbers_of)} cycles{shapes}"
    settings = {"cycles": cycles, "alike": alike, "told": told, "trivial": K == 1}
    return Case(ranks, seed, group, settings)


def names_of(case: Case) -> list[str]:
    """Of all tensors, in no order that means anything."""
    return sorted(name for cycle in case.settings["cycles"][0] for name in cycle)


def tensor(case: Case, name: str, rank: int) -> Tensor:
    """A float32 vector, an int32 matrix and so on. Of no two of them the bytes are the same, unless all are alike. Of
    three ranks or more, the second one has zeros in some."""
    place = NAMES.index(name)
    dtype, size, layout = SHAPES[0 if case.settings["alike"] else place % len(SHAPES)]
    numel = (SMALLEST + 16 * (0 if case.settings["alike"] else place)) // size
    settings = {"numel": numel, "dtype": dtype, "layout": layout}
    settings |= {"zeros_on": case.members[1]} if case.size > 2 and place % 3 == 0 else {}
    return numbers(Case(case.ranks, case.seed + 1000 * place, case.group, settings), rank)


def inputs(case: Case, rank: int) -> tuple[list[dict[str, Tensor]]]:
    of_rank = case.settings["cycles"][case.members.index(rank)] if rank in case.members else []
    return ([{name: tensor(case, name, rank) for name in cycle} for cycle in of_rank],)


def complete(case: Case) -> dict[str, int]:
    """By name the cycle in which the last rank has it ready."""
    rows = [(name, at) for of_rank in case.settings["cycles"] for at, cycle in enumerate(of_rank) for name in cycle]
    return {name: max(at for other, at in rows if other == name) for name in names_of(case)}


def sums(case: Case) -> dict[str, Tensor]:
    return {name: total([tensor(case, name, rank) for rank in case.members]) for name in names_of(case)}


def kept(seen: Seen, name: str) -> str:
    """More on a tensor that is not the sum: whether all ranks still hold what they were given, or 1/K of the sum; and
    who has stopped early."""
    place, case = names_of(seen.case).index(name), seen.case
    held = [seen.returned[r]["held"][place] for r in case.members]
    if all(torch.equal(one, tensor(case, name, r)) for one, r in zip(held, case.members, strict=True)):
        same = ", and on every rank it is as it was given: no all-reduce has changed it in place"
        return f"{same}{stopped(seen)}"
    total, size = sums(case)[name].double(), case.size
    share = total / size if held[0].is_floating_point() else (total / size).floor()
    return f": it is the sum divided by {size}" if all(torch.equal(one.double(), share) for one in held) else ""


def stopped(seen: Seen) -> str:
    """The first rank that has returned before its cycles were over."""
    for rank, own in zip(seen.case.members, seen.case.settings["cycles"], strict=True):
        if (taken := len(seen.returned[rank]["changed"])) < len(own):
            return f". Rank {rank} has returned after {taken} of its {len(own)} cycles"
    return ""


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
    """What it returns ("order"), the tensors afterwards ("held", by their names in order), and which of them had
    changed whenever a cycle was taken ("changed")."""
    (cycles,) = arguments
    tensors = {name: tensor for cycle in cycles for name, tensor in cycle.items()}
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    changed: list[list[str]] = []

    def coming() -> Iterator[dict[str, Tensor]]:
        for cycle in cycles:
            changed.append([name for name in tensors if not torch.equal(tensors[name], before[name])])
            yield cycle

    order = fn(coming())
    return {"order": plain(order), "held": [plain(tensors[name]) for name in sorted(tensors)], "changed": changed}


def reduces(event: Event) -> bool:
    """Whether it all-reduces a tensor, or several in one buffer."""
    return event.kind == "all_reduce" and event.nbytes >= SMALLEST


def said(seen: Seen) -> list[Event]:
    """What else the ranks say to each other."""
    return [event for event in control(seen.trace, ()) if not reduces(event)]


def evidence(seen: Seen) -> list[Evidence]:
    """Of each member of the group, what rules may ask."""
    case = seen.case
    ready, sizes = complete(case), {name: tensor(case, name, 0).nbytes for name in names_of(case)}
    largest = max(said(seen), key=own_bytes, default=None)
    by_rank = [seen.returned[rank] for rank in case.members]
    rows = []
    for rank, found in zip(case.members, by_rank, strict=True):
        reduced = [event.nbytes for event in seen.trace.of_rank(rank) if reduces(event)]
        takes = [(at, name) for at, changed in enumerate(found["changed"]) for name in ready if name not in changed]
        left = [(at, name) for at, name in takes if ready[name] < at and case.size > 1]
        early = [(at, n) for at, changed in enumerate(found["changed"]) for n in changed if ready[n] >= at]
        rows.append({
            "rank": rank, "order": found["order"], "first": by_rank[0]["order"], "tensors": len(ready),
            "alone": case.size == 1, "names": sorted(ready), "sizes": sizes, "reduced": reduced,
            "all_reduces": len(reduced), "ready": ready,
            "at": left[0][0] if left else None, "name": left[0][1] if left else early[0][1] if early else "",
            "since": ready[left[0][1]] if left else None, "early": early[0][0] - 1 if early else None,
            "kind": largest.kind if largest else "", "bytes": own_bytes(largest) if largest else 0,
        })  # fmt: skip
    return rows
