"""Mend the exchange of 1F1B: the same passes in the same order, the same messages, and nobody waits in a circle."""

from collections.abc import Callable, Sequence
from typing import Any

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare, told
from lockstep.comm.backend_rules import STRICT
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.pipeline.noted_passes import Passes, observed, results_of
from lockstep.exercises.without_waiting.evidence import case, noting, results
from lockstep.pipeline.schedules_as_pairs import one_f_one_b

SHAPE = (2, 1, 1, 3)
MICRO_BATCHES = {1: (3,), 2: (1, 4), 3: (1, 2, 3, 7), 4: (6,), 5: (3,)}  # by ranks
HINT = (
    "In the steady state y to the next stage and dy from it cross, and so do dx and the next x: post what crosses as "
    "one batch_isend_irecv. After its last F a stage receives no x."
)
OVERWRITTEN = (
    " On rank {} x of micro-batch {} has changed since forward, which keeps x itself: receive each x into a new tensor."
)
EMPTY = "If it is batch_isend_irecv that raises it: it wants at least one operation."


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(group, m) for group in groups(ranks) for m in MICRO_BATCHES[ranks]]
    return [case(ranks, seed + n, group, f"m = {m}", trivial=m == 1, m=m) for n, (group, m) in enumerate(rows)]


def stage(case: Case, rank: int) -> int:
    return case.members.index(rank) if rank in case.members else 0


def inputs(case: Case, rank: int) -> tuple[Callable[..., Any], Callable[..., Any], int, tuple[int, ...]]:
    passes = Passes(stage(case, rank), case.size, SHAPE)
    return passes.forward, passes.backward, case.settings["m"], SHAPE


def examine(seen: Seen) -> Fault | None:
    m, held = seen.case.settings["m"], results(seen)
    for value in held:
        if not (isinstance(value, list) and len(value) == m):
            return Fault("wrong-type", f"With {seen.case}: a rank returns {told(value)}; a list of {m} is wanted.")
    wanted = results_of(seen.case.size, m, SHAPE)
    for i in range(m):
        if fault := compare(seen, column(held, i), column(wanted, i)):
            there = (j for j in range(m) if not compare(seen, column(held, i), column(wanted, j)))
            other = next((f" What stands there is that of micro-batch {j}." for j in there), "")
            why = other or overwritten(seen)
            return Fault(fault.misconception, f"{fault.message} This is dx of micro-batch {i}.{why}")
    return None


def overwritten(seen: Seen) -> str:
    """Whose x was changed while forward kept it, in a sentence."""
    rows = ((rank, i) for rank in seen.case.members for i in seen.returned[rank]["found"]["spoilt"])
    return next((OVERWRITTEN.format(*row) for row in rows), "")


def column(rows: Sequence[Sequence[Any]], i: int) -> list[Any]:
    return [row[i] for row in rows]


def economise(seen: Seen) -> list[Fault]:
    """The first pass of a rank that comes in another place than in the program given."""
    for s, rank in enumerate(seen.case.members):
        made = [tuple(call) for call in seen.returned[rank]["found"]["passes"]]
        order = one_f_one_b(s, seen.case.size, seen.case.settings["m"])
        if made != order:
            at = next((n for n, (a, b) in enumerate(zip(made, order, strict=False)) if a != b), len(order))
            calls = [f"{kind}{i}" for kind, i in made[: at + 1]]
            message = f"With {seen.case}, rank {rank} calls {' '.join(calls[-8:])}"
            right = " ".join(f"{kind}{i}" for kind, i in order[: at + 1][-8:])
            return [Fault("another-order", f"{message}; in the program given it is {right}.", telling=True)]
    return []


def messages(case: Case) -> int:
    return 2 * int(case.settings["m"]) * (case.size - 1)


EXERCISE = Exercise(
    number=4,
    kind="mend",
    title="Mend the exchange",
    points=3,
    minutes=20,
    parameters="forward, backward, micro_batches, shape, group=None",
    worlds=tuple(MICRO_BATCHES),
    cases=cases,
    inputs=inputs,
    reference="lockstep.pipeline.blocking_messages:mend_one_f_one_b_exchange",
    values=Values(examine=examine),
    costs=Costs(
        algorithm="1F1B",
        economise=economise,
        budgets=(
            Budget("collectives", lambda case: 0, advice="Messages between neighbours are enough."),
            Budget("barriers", lambda case: 0, advice="A message says itself when it has come."),
            Budget("all messages", messages, "2·m·(p-1)"),
            Budget("all bytes", lambda case: 4 * 6 * messages(case), "each tensor once", at_least=1),
        ),
    ),
    comparison=Comparison(alike=lambda seen: [seen.returned[rank] for rank in seen.case.members]),
    run=Run(timeout=2.5, rules=STRICT, watch=noting(observed)),
    feedback=Feedback(hints=[("crashed:Deadlock", HINT), ("^IndexError: list index out of range", EMPTY)]),
)
