"""Mend the clipping: all shards of all ranks have one norm, and one number of each rank is enough to find it."""

from math import nan
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare, told
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.evidence import case

SHARDS = (7, 12, 1)  # numbers of this rank's shard of each layer
LONG, TOGETHER, SHORT, NAN, ZERO = (
    "a norm far above max_norm", "a norm above max_norm in all, and on no rank alone",
    "a norm below max_norm", "a NaN on the last rank", "gradients of 0",
)  # fmt: skip


def cases(ranks: int, seed: int) -> list[Case]:
    kinds = [kind for kind in (LONG, TOGETHER, SHORT, NAN, ZERO) if ranks > 1 or kind != TOGETHER]
    rows = [(group, kind) for group in groups(ranks) for kind in (kinds if group is None else [TOGETHER])]
    return [case(ranks, seed + n, group, kind, kind=kind) for n, (group, kind) in enumerate(rows)]


def shards(case: Case, rank: int) -> list[Tensor]:
    drawn, kind = generator(case, rank), case.settings["kind"]
    gradients = [torch.randint(-9, 10, (n,), generator=drawn).float() * (kind != ZERO) for n in SHARDS]
    if kind == NAN and rank == case.members[-1]:
        gradients[0][3] = nan
    return gradients


def inputs(case: Case, rank: int) -> tuple[list[Tensor], float]:
    """With what the norms of all have to be, or not to be, larger than."""
    norms = [float(torch.cat(shards(case, member)).norm()) for member in case.members]
    together = sum(norm**2 for norm in norms) ** 0.5
    limits = {LONG: min(norms) / 2, TOGETHER: (max(norms) + together) / 2, SHORT: 1.01 * together}
    return shards(case, rank), limits.get(case.settings["kind"], 2.5)


def wanted(case: Case) -> list[list[Tensor]]:
    together, (_, max_norm) = torch.cat([s for r in case.members for s in shards(case, r)]).double(), inputs(case, 0)
    scale = max_norm / float(together.norm()) if together.any() and case.settings["kind"] != SHORT else 1.0
    return [[s * scale for s in shards(case, rank)] for rank in case.members]


def beside(held: Any, want: Tensor, case: Case) -> tuple[Any, Tensor]:
    """Both, and 0 in their place where both are NaN, or where what is multiplied is off by rounding."""
    if not isinstance(held, Tensor) or held.shape != want.shape or held.dtype != want.dtype:
        return held, want
    tolerance = 0.0 if case.settings["kind"] == SHORT else 1e-6
    near = torch.isclose(held, want, rtol=tolerance, atol=0.0, equal_nan=True)
    return held.masked_fill(near, 0), want.masked_fill(near, 0)


def examine(seen: Seen) -> Fault | None:
    members, want = seen.case.members, wanted(seen.case)
    for rank in members:
        if not (isinstance(value := seen.returned[rank], list) and len(value) == len(SHARDS)):
            asked = f"rank {rank} returns {told(value)}; a list of {len(SHARDS)} shards is wanted."
            return Fault("wrong-type", f"With {seen.case}, {asked}")
    for n in range(len(SHARDS)):
        pairs = [beside(seen.returned[r][n], right[n], seen.case) for r, right in zip(members, want, strict=True)]
        if fault := compare(seen, *zip(*pairs, strict=True)):
            return Fault(fault.misconception, f"{fault.message} This is the shard of layer {n}.")
    return None


def alike(seen: Seen) -> list[Any]:
    """The shards, with a number where they are not one."""
    held = [seen.returned[rank] for rank in seen.case.members]
    return [[x.nan_to_num(1e9) if isinstance(x, Tensor) else x for x in v] if isinstance(v, list) else v for v in held]


EXERCISE = Exercise(
    number=7, kind="mend", core=False, title="Mend the clipping", points=3, minutes=15,
    parameters="gradients, max_norm, group=None", reference="lockstep.sharded.local_clipping:mend_local_clipping",
    cases=cases, inputs=inputs, examine=examine, alike=alike,
    kept=True, budgets=all_reduces(lambda case: 8), worlds=(1, 2, 3, 4), seconds=2.5,
)  # fmt: skip
