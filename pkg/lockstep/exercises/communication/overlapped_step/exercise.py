"""Hide a transfer: the sum of a gradient travels while a product is computed."""

from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs, Feedback, Run, Values
from lockstep.checks.measured_overlap import exposed
from lockstep.exercises.communication.hidden_transfer import PRODUCT, inputs, wanted
from lockstep.exercises.communication.tensors import changeable, collective, groups


def cases(ranks: int, seed: int) -> list[Case]:
    """With three ranks, one of them has a gradient of zeros, and all are of float64."""
    zeros = {"zeros_on": 1, "dtype": "float64"} if ranks == 3 else {}
    return [
        Case(ranks, seed + n, group, {"numel": 250_000 + seed % 1000, **zeros}) for n, group in enumerate(groups(ranks))
    ]


EXERCISE = collective(
    number=5,
    title="Hide a transfer behind compute",
    points=4,
    minutes=25,
    parameters="gradient, x, weights, group=None",
    reference="lockstep.collectives:overlapped_step",
    worlds=(1, 2, 3, 4),
    cases=cases,
    inputs=inputs,
    values=Values(wanted=wanted, may_change=changeable("gradient")),
    costs=Costs(economise=exposed(PRODUCT, "the product")),
    run=Run(timeout=5.0),
    feedback=Feedback(answer="the pair (gradient, product)"),
)
