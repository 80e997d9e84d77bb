"""The k largest elements travel, the others wait. Of equally large ones any may go: what is wanted follows it."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.exercises.without_waiting.totals import cases, inputs
from lockstep.exercises.without_waiting.what_is_sent import examine, wrong_one


def nbytes(case: Case) -> int:
    """Of k values and k places: 8 bytes of each are enough, in one tensor too."""
    return int(case.settings["k"] * (8 + 8))


EXERCISE = Exercise(
    number=5, title="Top-k with error feedback", points=4, minutes=25, parameters="gradient, residual, k, group=None",
    reference="lockstep.without_waiting.compression_with_error_feedback:topk_with_error_feedback", cases=cases,
    inputs=inputs, worlds=(1, 2, 3, 4, 8), values=Values(examine=examine),
    costs=Costs(algorithm="top-k", budgets=(
        Budget("collectives", lambda case: 2),
        Budget("barriers", lambda case: 0, advice="An all-gather waits for all ranks as it is."),
        Budget("collective bytes", lambda case: case.size * nbytes(case), "k values and k places of each rank"),
        Budget("bytes", lambda case: (case.size - 1) * nbytes(case), "k values and k places to each other rank"),
    )),
    comparison=Comparison(alike=lambda seen: [seen.returned[rank] for rank in seen.case.members], tensors=wrong_one),
    run=Run(timeout=2.5),
)  # fmt: skip
