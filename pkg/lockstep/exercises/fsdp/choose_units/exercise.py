"""Which layers to gather together? Judged by the step's time relative to the shortest that the memory allows."""

from functools import partial

from lockstep.checks.exercise import Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.arithmetic import Tried, arithmetic, drawn
from lockstep.exercises.fsdp.unit_choices import BETA, beside_the_best, networks

RIGHT, NEAR = 1.01, 1.10  # of the shortest step
TRIED: Tried = {
    "8 layers": partial(networks, 8, 2.0),
    "10 layers and little memory": partial(networks, 10, 1.2),
    "12 layers and much memory": partial(networks, 12, 8.0),
    "12 layers, alpha 0 and little memory": partial(networks, 12, 1.0, alpha=0.0),
    "30 layers": partial(networks, 30, 2.0, number=1),
    "small layers and memory to the byte": [
        ([5] * n, 16 * -(-5 * n // 4) + 16 * s, 4, 1e-5, BETA, [1e-6] * n) for n, s in ((8, 6), (7, 5), (8, 10))
    ],
    "one rank": [([50, 20, 70], 16 * 140 + 4 * 90, 1, 1e-5, BETA, [1e-5, 2e-5, 1e-5])],
}


def examine(seen: Seen) -> Fault | None:
    """The first of the answers that are not good enough; how near the others are earns a part."""
    calls, answers = drawn(TRIED, seen.case), seen.returned[0]
    rows = [(*beside_the_best(call, answer), answer) for call, answer in zip(calls, answers, strict=True)]
    wrong = [(told, answer) for ratio, told, answer in rows if ratio > RIGHT]
    if not wrong:
        return None
    earned = sum(1.0 if ratio <= RIGHT else 0.5 * (ratio <= NEAR) for ratio, *_ in rows) / len(rows)
    told, answer = wrong[0]
    return Fault("wrong-values", f"With {seen.case}: {answer!r:.70} {told}", earned=earned)


EXERCISE = arithmetic(
    TRIED, trivial={"one rank"}, number=6, core=False, title="Choose the units", points=5, minutes=35,
    parameters="sizes, memory, ranks, alpha, beta, seconds", reference="lockstep.cost.fsdp_units:choose_units",
    right=lambda *call: None, values=Values(share=1.0, examine=examine, agrees=lambda answer, want: True),
    feedback=Feedback(answer="a list of lists of layer numbers", hints=[
        ("'NoneType' object is not iterable", "A choice of exactly `memory` bytes fits, too."),
        ("crashed:Stuck", "30 layers have 2²⁹ choices, too many to try. Many begin alike: keep the best."),
    ]),
)  # fmt: skip
