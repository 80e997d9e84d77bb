"""Mend the clipping: all shards of all ranks have one norm, and one number of each rank is enough to find it."""

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare, told
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.fsdp.clipped import KINDS, SHARDS, TOGETHER, Clipping, without_nan, without_what_agrees
from lockstep.exercises.without_waiting.evidence import case


def cases(ranks: int, seed: int) -> list[Case]:
    """In a group that is not the world one kind is enough."""
    rows = [(group, kind) for group in groups(ranks) for kind in (KINDS if group is None else [TOGETHER])]
    return [case(ranks, seed + n, group, kind, kind=kind) for n, (group, kind) in enumerate(rows)]


def task(case: Case) -> Clipping:
    return Clipping.drawn(case.settings["kind"], [generator(case, rank) for rank in case.members])


def examine(seen: Seen) -> Fault | None:
    held, clipping = [seen.returned[rank] for rank in seen.case.members], task(seen.case)
    for value in held:
        if not (isinstance(value, list) and len(value) == len(SHARDS)):
            return Fault("wrong-type", f"With {seen.case}: a rank returns {told(value)}; a list of shards is wanted.")
    for n in range(len(SHARDS)):
        pairs = (without_what_agrees(x[n], y[n], clipping) for x, y in zip(held, clipping.clipped(), strict=True))
        if fault := compare(seen, *zip(*pairs, strict=True)):
            why = clipping.beside(held) if fault.misconception == "wrong-values" else ""
            return Fault(fault.misconception, f"{fault.message} This is the shard of layer {n}. {why}".strip())
    return None


EXERCISE = Exercise(
    number=8, kind="mend", core=False, title="Mend the clipping", points=3, minutes=15,
    parameters="gradients, max_norm, group=None", reference="lockstep.sharded.gradient_clipping:mend_local_clipping",
    cases=cases, worlds=(1, 2, 3, 4),
    inputs=lambda case, rank: task(case).of_rank(case.members.index(rank) if rank in case.members else 0),
    values=Values(examine=examine, may_change=["gradients.shared"]), costs=Costs(budgets=all_reduces(lambda case: 8)),
    comparison=Comparison(alike=lambda seen: [without_nan(seen.returned[rank]) for rank in seen.case.members]),
    run=Run(timeout=2.5),
)  # fmt: skip
