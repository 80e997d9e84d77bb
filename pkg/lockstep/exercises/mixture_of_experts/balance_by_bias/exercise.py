"""A step of a gate that balances by its bias: choices with it, weights without it, and loads of all ranks."""

from lockstep.checks.budget import Budget
from lockstep.checks.exercise import Costs, Exercise, Feedback, Run, Values
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.mixture_of_experts.biased_gates import cases, given, wanted

EXERCISE = Exercise(
    number=9,
    core=False,
    title="Balance without a loss",
    points=3,
    minutes=15,
    parameters="scores, bias, k, rate, group=None",
    reference="lockstep.experts.bias:balance_by_bias",
    cases=cases,
    inputs=given,
    worlds=(1, 2, 3, 4),
    values=Values(wanted=wanted, tolerance=1e-9),
    costs=Costs(
        algorithm="this gate",
        budgets=(
            *all_reduces(lambda case: 8 * case.settings["E"]),
            Budget("barriers", lambda case: 0, advice="The all-reduce is enough: it needs no barrier."),
        ),
    ),
    run=Run(timeout=2.5),
    feedback=Feedback(answer="a tuple of three tensors, the choices, their weights and the next bias,"),
)
