"""1F1B for any size: all stages are asked, and their streams are simulated together."""

from collections.abc import Iterable
from functools import partial
from random import Random

from lockstep.exercises.arithmetic import Calls
from lockstep.exercises.pipeline.judged_streams import Stream, streams
from lockstep.pipeline.schedules_as_pairs import not_one_f_one_b


def shuffled(p: int, m: int, dice: Random) -> Calls:
    """All stages in no order: no call can rely on the one before."""
    return [(stage, p, m) for stage in dice.sample(range(p), p)]


def mistakes(calls: Calls, found: list[Stream]) -> Iterable[tuple[int, str]]:
    """The first of a case. Which call it is of follows from its stage."""
    by_stage = {call[0]: n for n, call in enumerate(calls)}
    stage, wrong = not_one_f_one_b([found[by_stage[s]] for s in range(len(calls))], calls[0][2])
    return [(by_stage[stage], wrong)] if wrong else []


EXERCISE = streams(
    {
        f"p = {p} and m = {m}": partial(shuffled, p, m)
        for p, m in ((4, 6), (3, 3), (2, 5), (5, 2), (4, 1), (8, 40), (1, 3), (1, 1))
    },
    mistakes=mistakes,
    kinds=("F", "B"),
    length=2,
    trivial=("p = 1 and m = 3", "p = 1 and m = 1"),
    number=2,
    title="One forward, one backward",
    points=3,
    minutes=15,
    parameters="stage, stages, micro_batches",
    reference="lockstep.pipeline.schedules_as_pairs:one_f_one_b",
    answer="a list of pairs such as ('F', 0)",
)
