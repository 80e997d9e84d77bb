"""Some tokens through a block that mixes them in their order: values, gradients, and how many rows it is given."""

from lockstep.checks.evidence_rules import Rule
from lockstep.checks.exercise import Comparison, Costs, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.mixture_of_experts import observed_depths
from lockstep.exercises.mixture_of_experts.flowing import Flowing

RULES = (
    Rule("wrong-values", lambda e: e["wrong"] == "past", "token {at} goes past the block, but y is {held} there, and "
         "x is {x}.{equal}"),
    Rule("wrong-values", lambda e: e["wrong"] == "through", "token {at} goes through the block: with the score "
         "{score:.4g}, y is {want} there, not {held}.{equal}"),
)  # fmt: skip


def economise(seen: Seen) -> list[Fault]:
    for (x, *_, C), evidence in zip(
        observed_depths.calls(str(seen.case), seen.case.seed), seen.returned[0], strict=True
    ):
        if (rows := evidence["rows"]) != [C]:
            told = f"With {len(x)} tokens and a capacity of {C}: block is called with {rows} rows; once with {C} is"
            return [Fault("too-many-rows", f"{told} enough.", telling=True)]
    return []


EXERCISE = Flowing(
    observed_depths, names=["y"], asked="a tensor", by=("x", "router", "what the block has"), rules=RULES
).exercise(
    trivial="one token",
    number=6,
    core=False,
    title="Not every token, every block",
    points=2,
    minutes=15,
    parameters="x, router, block, capacity",
    reference="lockstep.experts.functional:mixture_of_depths",
    values=Values(share=0.75),
    costs=Costs(economise=economise),
    comparison=Comparison(footprint=lambda seen: [evidence["rows"] for evidence in seen.returned[0]]),
)
