"""Find the straggler in traces of a training: who computes most, longest or last need not be the one."""

from itertools import pairwise
from random import Random

from lockstep.checks.numbers import exact
from lockstep.data_parallel.stragglers import waited_for
from lockstep.events import Event, Trace
from lockstep.exercises.arithmetic import Calls, arithmetic

STEPS, SECONDS = 20, 0.02  # of an all-reduce
RANKS = (8, 5, 3, 8)


def traces(dice: Random, once: float = 0.0, begin: float = 0.0, after: float = 0.0) -> Calls:
    """One rank is slow in all steps. Another one has so many seconds more to compute ``once``, before it begins, or
    after the last all-reduce."""
    pairs = [(K, dice.sample(range(K), 2)) for K in RANKS]
    return [(recorded(dice, slow, other, K, once, begin, after),) for K, (slow, other) in pairs]


def recorded(dice: Random, slow: int, other: int, K: int, once: float, begin: float, after: float) -> Trace:
    now, events = [begin * (rank == other) for rank in range(K)], list[Event]()
    strange = dice.randrange(1, STEPS)
    for step in range(STEPS):
        for rank in range(K):
            more = once if (rank, step) == (other, strange) else 0.0
            seconds = dice.uniform(0.95, 1.05) * (1.4 if rank == slow else 1.0) + more
            now[rank] = computed(dice, events, rank, now[rank], seconds)
        last = max(now)
        events += [Event(rank, "all_reduce", last, last + SECONDS, 4000, group=tuple(range(K)), message=step,
                         wait=last + SECONDS - now[rank], posting=now[rank]) for rank in range(K)]  # fmt: skip
        now = [last + SECONDS] * K
    computed(dice, events, other, now[other], after)
    return Trace.of(events, K, "virtual")


def computed(dice: Random, events: list[Event], rank: int, begin: float, seconds: float) -> float:
    """One to five operations, and when the last of them ends."""
    cuts = sorted([0.0, 1.0, *(dice.random() for _ in range(dice.randrange(5)))])
    ends = [begin + seconds * cut for cut in cuts]
    events += [Event(rank, "compute", a, b, name="mm", flops=int(1e12 * (b - a))) for a, b in pairwise(ends) if b > a]
    return ends[-1]


EXERCISE = arithmetic(
    {
        "one slow rank": traces,
        "another rank that is late once": lambda dice: traces(dice, once=2.5),
        "another rank that begins late": lambda dice: traces(dice, begin=2.5),
        "another rank that has work to do at the end": lambda dice: traces(dice, after=30.0),
        "one rank": lambda dice: [(recorded(dice, 0, 0, 1, 0, 0, 0),)],
    },
    trivial=("one rank",),
    number=10,
    core=False,
    title="Find the straggler",
    points=2,
    minutes=15,
    parameters="trace",
    reference="lockstep.data_parallel.stragglers:find_straggler",
    agrees=exact,
    asked="a rank, a whole number,",
    steps=lambda trace: (
        "the others wait for rank 0, 1, ... " + ", ".join(f"{s:.2f}" for s in waited_for(trace)) + " s."
    ),
    values=1.0,
)
