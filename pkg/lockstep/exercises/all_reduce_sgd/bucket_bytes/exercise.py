"""How large should a bucket be? Judged by when the step ends: at most 2 % later than it could is good enough."""

from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number, number_of
from lockstep.checks.observation import Seen
from lockstep.cost.data_parallel import best_bucket_bytes, bucket_plan, step_seconds
from lockstep.exercises.all_reduce_sgd.buckets import backward_pass, passes
from lockstep.exercises.arithmetic import Tried, arithmetic, drawn, whole

FIVE = [(2.0, 4), (3.0, 8), (4.0, 4), (6.0, 16), (9.0, 4)]
ALONE = "one rank, which sends nothing"


TRIED: Tried = {
    f"gradients {FIVE}": [(FIVE, 2, 1.0, 0.25), (FIVE, 2, 0.125, 0.25), (FIVE, 2, 2.0, 0.125)],
    "sixteen gradients": lambda dice: passes(dice.randrange(2**32)),
    "links where alpha is 0": lambda dice: [(g, K, 0.0, beta) for g, K, _, beta in map(backward_pass, [dice] * 3)],
    "links where beta is 0": lambda dice: [(g, K, alpha, 0.0) for g, K, alpha, _ in map(backward_pass, [dice] * 3)],
    ALONE: [(FIVE, 1, 1.0, 0.25)],
}


def too_late(seen: Seen) -> Fault | None:
    """The first size with which the step ends too late. What is no number, the standard rule tells."""
    for (gradients, *ring), answer in zip(drawn(TRIED, seen.case), seen.returned[0], strict=True):
        size = number_of(answer)
        about = f"With {seen.case}, {ring[0]} ranks, alpha {ring[1]:.3g} and beta {ring[2]:.3g}"
        if size is None:
            continue
        if not size >= 1:
            return Fault("wrong-values", f"{about}, you return {number(size)}: a bucket holds at least 1 byte.")
        best = best_bucket_bytes(gradients, *ring)
        ends, could = (step_seconds(gradients, s, *ring) for s in (size, best))
        if ends > 1.02 * could:
            made, few = (len(bucket_plan(gradients, s)) for s in (size, best))
            told = f"buckets of {number(size)} bytes end the step after {ends:.4g} s; {could:.4g} s is possible."
            return Fault("wrong-values", f"{about}, {told}", f"It makes {made} buckets, the best size {few}.")
    return None


EXERCISE = arithmetic(
    TRIED, {ALONE}, number=8, core=False, title="How large should a bucket be?", points=2, minutes=20,
    parameters="gradients, ranks, alpha, beta", asked="a whole number of bytes", economise=whole, values=0.75,
    reference="lockstep.cost.data_parallel:best_bucket_bytes", examine=too_late, agrees=lambda size, best: True,
)  # fmt: skip
