"""Mend the mean of means: rows count alike, whichever rank has them. Every right way is exact, to the bit."""

from dataclasses import replace

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import results
from lockstep.checks.values import compare
from lockstep.checks.wording import counted
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.all_reduce_sgd.rows import cases, shape_of

DIVIDED = 60  # by every number of rows
QUIET = 3  # this rank has zeros


def values(case: Case, rank: int) -> tuple[Tensor]:
    """Halves of multiples of 60: the sum of any rank is divided by its rows without a rest. No float32 holds them."""
    drawn = torch.randint(-(2**30), 2**30, shape_of(case, rank), generator=generator(case, rank))
    return (drawn.double() * DIVIDED / 2 * (rank != QUIET),)


def wanted(case: Case) -> list[Tensor]:
    return [torch.cat([values(case, rank)[0] for rank in case.members]).mean(0)] * case.size


def examine(seen: Seen) -> Fault | None:
    """Wrong values, and by what the sum of all rows has been divided, if that is one number on all ranks."""
    fault, rows = compare(seen, results(seen), wanted(seen.case)), sum(seen.case.settings["rows"])
    if fault is None or fault.misconception != "wrong-values":
        return fault
    total = rows * wanted(seen.case)[0]
    by = float(total.square().sum() / (total * results(seen)[0]).sum())
    alike = all(torch.allclose(by * held, total, rtol=1e-9, atol=0) for held in results(seen))
    telling = alike and f"{by:.6g}" not in ("1", str(rows))
    told = f" It is the sum of all {counted(rows, 'row')}, divided by {by:.6g}." if telling else ""
    return replace(fault, message=fault.message + told)


EXERCISE = Exercise(
    number=6,
    kind="mend",
    core=False,
    title="Mend the mean of means",
    points=2,
    minutes=15,
    parameters="values, group=None",
    reference="lockstep.data_parallel.means:mend_mean_of_means",
    cases=cases,
    inputs=values,
    worlds=(1, 2, 3, 4),
    values=Values(wanted=wanted, examine=examine),
    costs=Costs(budgets=all_reduces(lambda case: 8 * (case.settings["columns"] + 1))),
    run=Run(timeout=2.5),
)
