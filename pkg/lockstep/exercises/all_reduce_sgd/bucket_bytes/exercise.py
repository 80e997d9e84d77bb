"""How large should a bucket be? Judged by when the step ends: at most 2 % later than it could is good enough."""

from collections.abc import Sequence

from lockstep.checks.exercise import Costs, Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number, number_of
from lockstep.checks.observation import Seen
from lockstep.checks.wording import counted, listed
from lockstep.cost.data_parallel import Gradient, best_bucket_bytes, bucket_plan, step_seconds
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
    """The first size with which the step ends too late. Answers that are no numbers are left to the standard rule."""
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
            made, few = (buckets(gradients, s) for s in (size, best))
            told = f"buckets of {number(size)} bytes end the step after {ends:.4g} s; {could:.4g} s is possible."
            return Fault("wrong-values", f"{about}, {told}", f"It makes {made}, the best size {few}.")
    return None


def buckets(gradients: Sequence[Gradient], size: float) -> str:
    """How many, and if they are few their bytes."""
    sizes = [nbytes for _, nbytes in bucket_plan(gradients, size)]
    of = f" of {listed([f'{n:,}' for n in sizes])} bytes" if len(sizes) <= 5 else ""
    return counted(len(sizes), "bucket") + of


EXERCISE = arithmetic(
    TRIED, trivial={ALONE}, number=8, core=False, title="How large should a bucket be?", points=2, minutes=20,
    parameters="gradients, ranks, alpha, beta", reference="lockstep.cost.data_parallel:best_bucket_bytes",
    values=Values(share=0.75, examine=too_late, agrees=lambda size, best: True), costs=Costs(economise=whole),
    feedback=Feedback(answer="a whole number of bytes"),
)  # fmt: skip
