"""FLOPs of a token: each part of the model has a case that shows it, and a gate as wide as an FFN is one of them."""

from functools import partial
from random import Random

from lockstep.checks.exercise import Costs, Feedback, Values
from lockstep.checks.numbers import exact
from lockstep.exercises.arithmetic import Calls, arithmetic, whole
from lockstep.experts.flops import active_flops

SMALL = (12, 768, 1024, 50_000)  # layers, width, context, vocabulary
MAVERICK = (48, 5120, 8192, 202_048, 24, 128, 1, 1, 8192)


def drawn(experts: int, dice: Random) -> Calls:
    """Models that have nothing plain about them."""
    found = []
    for _ in range(6):
        L, d, E = dice.randint(3, 90), 64 * dice.randint(3, 90), dice.randint(4, experts)
        sizes = L, d, dice.randint(500, 5000), dice.randint(9000, 99_000)
        gates = dice.randint(1, L - 1), E, dice.randint(1, 4), dice.randint(1, 2), 32 * dice.randint(3, 99)
        found.append((*sizes, *gates))
    return found


def steps(L: int, d: int, s: int, V: int, M: int, E: int, k: int, shared: int, hidden: int) -> str:
    f = active_flops(L, d, s, V, E, k, M, shared, hidden)
    instead = f"FFNs, gates and experts {f.ffn:,}"
    return f"projections {f.projections:,}, {instead}, attention {f.attention:,}, scores {f.logits:,}."


EXERCISE = arithmetic(
    {
        "experts in some of the layers": partial(drawn, 64),
        "no layer with experts": [(*SMALL, 0, 8, 2, shared, h) for shared, h in ((0, 3072), (1, 1000))],
        "experts in all layers": [(*SMALL, 12, 8, k, 0, 3072) for k in (1, 2, 8)],
        "shared experts": [(*SMALL, 6, 16, 2, shared, 384) for shared in (1, 2)],
        "all experts, and shared ones": [(*SMALL, 6, 4, 4, 2, 384), (*SMALL, 12, 1, 1, 1, 3072)],
        "very many experts": [(*SMALL, 6, 100_000, 1, 0, 3072), (*SMALL, 12, 4096, 4, 1, 64)],
        "the sizes of LLaMA-4 Maverick": [MAVERICK],
    }, number=8, core=False, title="What does a token cost?", points=2, minutes=15,
    parameters="layers, width, context, vocabulary, with_experts, experts, k, shared, hidden",
    reference="lockstep.experts.flops:token_flops", values=Values(share=0.75, agrees=exact),
    costs=Costs(economise=whole), feedback=Feedback(steps=steps, answer="a whole number"),
)  # fmt: skip
