"""Do the replicas agree? Of two ranks or more one may differ, in a way that many fingerprints do not see."""

from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.checks.wording import listed
from lockstep.exercises.all_reduce_sgd.agreeing_replicas import agree, cases, parameters
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces


def examine(seen: Seen) -> Fault | None:
    right, members = agree(seen.case), seen.case.members
    for rank in members:
        if not isinstance(answer := seen.returned[rank], bool):
            return Fault("wrong-type", f"With {seen.case}: rank {rank} returns {told(answer)}; a bool is wanted.")
    wrong = [rank for rank in members if seen.returned[rank] is not right]
    if wrong:
        who = f"{'rank' if len(wrong) == 1 else 'ranks'} {listed(wrong)}" if len(wrong) < len(members) else "each rank"
        return Fault("wrong-values", f"With {seen.case}: {who} returned {not right}; {right} is right on every rank.")
    return None


def alike(seen: Seen) -> list[bool]:
    """Which rank has the largest fingerprint is chance."""
    return sorted({seen.returned[rank] for rank in seen.case.members}, key=bool)


EXERCISE = Exercise(
    number=1,
    title="Do the replicas agree?",
    points=3,
    minutes=20,
    parameters="parameters, group=None",
    reference="lockstep.data_parallel.replicas:replicas_agree",
    cases=cases,
    inputs=parameters,
    worlds=(1, 2, 3, 4, 8),
    values=Values(examine=examine),
    costs=Costs(budgets=all_reduces(lambda case: 16)),
    comparison=Comparison(alike=alike),
    run=Run(timeout=2.5),
)
