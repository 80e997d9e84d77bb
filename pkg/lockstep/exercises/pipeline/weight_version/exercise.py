"""How old are the weights? Each rule on its own, at the beginning and far from it."""

from functools import partial
from itertools import product
from random import Random

from lockstep.checks.exercise import Costs, Feedback, Run, Values
from lockstep.checks.numbers import exact
from lockstep.exercises.arithmetic import Calls, arithmetic, whole
from lockstep.pipeline.weight_stashing import RULES

FAR = 10**12


def asked_of(rule: str, dice: Random) -> Calls:
    """All stages of some pipelines; the first minibatches, one from the middle and one from far away."""
    sizes = [(s, p) for p in (2, 3, dice.randint(4, 9)) for s in range(p)]
    return [
        (s, p, i, which, rule)
        for (s, p), which in product(sizes, "FB")
        for i in (0, p - s - 1, p - s, p - 1, p, dice.randint(10, 99), FAR)
    ]


def steps(stage: int, stages: int, minibatch: int, which: str, rule: str) -> str:
    at = 0 if rule == "vertical sync" else stage
    full = stages - at
    done = max(0, minibatch - full + 1)
    return f"stage {at} keeps {full} when it is full; there {done} B stand before F of {minibatch}."


EXERCISE = arithmetic(
    {
        **{f'rule "{rule}"': partial(asked_of, rule) for rule in RULES},
        "one stage": [(0, 1, i, which, rule) for i in (0, 1, 7) for which in "FB" for rule in RULES],
    }, trivial=("one stage",), number=8, core=False, title="How old are the weights?", points=2, minutes=15,
    parameters="stage, stages, minibatch, which, rule", reference="lockstep.pipeline.weight_stashing:weight_version",
    values=Values(share=0.75, agrees=exact), costs=Costs(economise=whole), run=Run(timeout=2.0),
    feedback=Feedback(
        answer="a whole number, 0 or more,", steps=steps,
        hints=[("crashed:Stuck", "The minibatch may be 1,000,000,000,000: nobody counts that far one by one.")],
    ),
)  # fmt: skip
