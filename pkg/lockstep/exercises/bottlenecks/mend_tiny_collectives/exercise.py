"""Mend a step that calls an all-reduce for each tensor: the same bytes in one call for each dtype."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs, Exercise, Run, Values
from lockstep.exercises.all_reduce_sgd.all_reduces import TRAVELS
from lockstep.exercises.bottlenecks.drawn_gradients import SHAPES, F, cases, inputs, wanted

RIDING = 2 * 8  # bytes of a loss and a number of samples


def dtypes(case: Case) -> int:
    return len({F, *(dtype for _, dtype in SHAPES[case.settings["kind"]])})


def nbytes(case: Case) -> int:
    return sum(gradient.nbytes for gradient in inputs(case, 0)[0]) + RIDING


EXERCISE = Exercise(
    number=3, kind="mend", title="Mend the tiny all-reduces", points=3, minutes=15,
    parameters="gradients, loss, samples, group=None", reference="lockstep.bottlenecks:mend_tiny_collectives",
    cases=cases, inputs=inputs, worlds=(1, 2, 3, 4), values=Values(wanted=wanted, tolerance=1e-6, share=0.0),
    costs=Costs(
        algorithm="this step",
        budgets=(
            Budget("collectives", dtypes, "one for each dtype"),
            Budget(TRAVELS, nbytes, "the gradients' bytes and 16 more"),
            Budget("barriers", lambda case: 0, advice="The all-reduce is enough: it needs no barrier."),
        ),
    ),
    run=Run(timeout=2.5),
)  # fmt: skip
