"""The k largest elements travel, the others wait. Of equally large ones any may go: what is wanted follows it."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.default_judge import forgiven
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare, told
from lockstep.exercises.without_waiting.totals import cases, inputs, wanted


def examine(seen: Seen) -> Fault | None:
    held = [seen.returned[rank] for rank in seen.case.members]
    for rank, pair in zip(seen.case.members, held, strict=True):
        if not (isinstance(pair, list) and len(pair) == 2):
            asked = f"rank {rank} returns {told(pair)}; a pair (mean, residual) is wanted."
            return Fault("wrong-type", f"With {seen.case}, {asked}")
    means, left = zip(*held, strict=True)
    right, kept = zip(*wanted(seen.case, list(left)), strict=True)
    near = [forgiven(mean, want, 1e-6) for mean, want in zip(means, right, strict=True)]
    for name, mine, want in (("new residual", left, kept), ("mean", means, near)):
        if fault := compare(seen, mine, want):
            return Fault(fault.misconception, f"{fault.message} This is the {name}.")
    return None


def nbytes(case: Case) -> int:
    """Of k values and k places: 8 bytes of each are enough, in one tensor too."""
    return int(case.settings["k"] * (8 + 8))


EXERCISE = Exercise(
    number=5, title="Top-k with error feedback", points=4, minutes=25, parameters="gradient, residual, k, group=None",
    reference="lockstep.without_waiting.compression_with_error_feedback:topk_with_error_feedback",
    cases=cases, inputs=inputs,
    examine=examine, alike=lambda seen: [seen.returned[rank] for rank in seen.case.members], kept=True, of="top-k",
    budgets=(
        Budget("collectives", lambda case: 2),
        Budget("collective bytes", lambda case: case.size * nbytes(case), "k values and k places of each rank"),
        Budget("bytes", lambda case: (case.size - 1) * nbytes(case), "k values and k places to each other rank"),
    ),
    worlds=(1, 2, 3, 4, 8), seconds=2.5,
)  # fmt: skip
