"""How large must a batch be? Arithmetic, with a whole number as the answer."""

from random import Random

from lockstep.checks.exercise import Costs, Feedback, Values
from lockstep.checks.numbers import exact, number
from lockstep.cost.data_parallel import all_reduce_seconds
from lockstep.exercises.arithmetic import Calls, arithmetic, whole

LINKS = ((25e-6, 8e-10), (3.4e-6, 1 / 150e9))  # alpha and beta: 10-Gigabit Ethernet, NVLink
RANKS = (3, 2, 4, 5, 6, 8, 48)
ALONE = "one rank, which sends nothing"


def drawn(dice: Random, digits: int, ranks: tuple[int, ...], alphas: int = 1, betas: int = 1) -> Calls:
    """Gradients of so many digits. Answers are rounded up by 0.15 to 0.85, so no rounding of floats decides."""
    rows = []
    for K, batch in zip(ranks * 9, (2, 3, 5, 9, 14, 27, 60, 130, 700), strict=False):
        (alpha, beta), rate = dice.choice(LINKS), dice.choice((4e12, 15.7e12, 156e12))
        ring = (4 * int(10 ** dice.uniform(digits - 2, digits - 1)), K, alpha * alphas, beta * betas)
        seconds = all_reduce_seconds(*ring) / (batch - dice.choice((0.15, 0.4, 0.6, 0.85)))
        rows.append((seconds * rate, *ring, rate))
    return rows


def equal(dice: Random) -> Calls:
    """Powers of two, which nothing rounds: the all-reduce takes (K-1)·n·2⁻²⁰ seconds, an example 2⁻²⁰."""
    tried = [(K, 2 * dice.randint(10, 45) + odd) for K, odd in ((2, 1), (4, 0), (8, 1), (16, 0))]
    return [(2.0**20, (n * 2**10 - 2**13) * K // 2, K, 2.0**-18, 2.0**-30, 2.0**40) for K, n in tried]


EXERCISE = arithmetic(
    {
        "links where alpha is 0": lambda dice: drawn(dice, 8, RANKS, alphas=0),
        "links where beta is 0": lambda dice: drawn(dice, 8, RANKS, betas=0),
        "gradients of less than a megabyte": lambda dice: drawn(dice, 6, RANKS),
        "a thousand ranks": lambda dice: drawn(dice, 9, (1000,)),
        "a backward pass exactly as long as the all-reduce": equal,
        ALONE: lambda dice: [(1e9, 10**8, 1, 25e-6, 8e-10, 1e12), (2e6, 4096, 1, 3.4e-6, 1e-11, 15.7e12)],
    },
    trivial={ALONE},
    number=5,
    title="How large must a batch be?",
    points=2,
    minutes=15,
    parameters="flops, nbytes, ranks, alpha, beta, rate",
    reference="lockstep.cost.data_parallel:smallest_batch_that_hides",
    values=Values(agrees=exact, share=0.75),
    costs=Costs(economise=whole),
    feedback=Feedback(
        answer="a whole number",
        steps=lambda flops, *ring: (
            f"the ring takes {number(all_reduce_seconds(*ring[:-1]))} s, the backward pass of "
            f"one example {number(flops / ring[-1])} s."
        ),
    ),
)
