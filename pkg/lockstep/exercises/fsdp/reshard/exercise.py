"""A checkpoint of K ranks for another number of them: judged by the shard, and by what was read for it."""

from collections.abc import Sequence

from lockstep.checks.arrays import Arrays
from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.sharded.flat import shard_of
from lockstep.sharded.read_shards import numbers, observed
from lockstep.sharded.resharding import pieces

TRIED = {  # numel, old, new
    "24 numbers of 4 ranks for 2": (24, 4, 2),
    "24 numbers of 2 ranks for 4": (24, 2, 4),
    "60 numbers of 4 ranks for 6": (60, 4, 6),
    "61 numbers of 4 ranks for 3": (61, 4, 3),
    "100 numbers of 7 ranks for 9": (100, 7, 9),
    "5 numbers of 4 ranks for 3": (5, 4, 3),
    "5 numbers of 3 ranks for 8": (5, 3, 8),
    "23 numbers of 5 ranks for 1": (23, 5, 1),
    "12 numbers of 1 rank for 1": (12, 1, 1),
}


def calls(case: Case) -> Sequence[tuple[int, int, int, int]]:
    """Each of the new ranks."""
    numel, old, new = TRIED[str(case)]
    return [(numel, old, new, rank) for rank in range(new)]


def reads(seen: Seen) -> list[list[int]]:
    """Old rank, begin and end, of all new ranks."""
    return [one for evidence in seen.returned[0] for one in evidence["reads"]]


def needed(case: Case) -> int:
    return sum(len([*pieces(*call)]) for call in calls(case))


NAMES = "name", "result", "reads"
READ = Measure(
    lambda seen: sum(end - begin for _, begin, end in reads(seen)),
    "number", "all new ranks read {}", "{} read", "numbers",
)  # fmt: skip
READS = Measure(lambda seen: len(reads(seen)), "time", "read is called {}", "{}", "reads")


EXERCISE = Arrays(
    calls, lambda numel, old, new, rank: shard_of(numbers(numel), rank, new),
    asked="a float32 tensor", told="numel={0}, old={1}, new={2}, rank={3}",
).exercise(
    number=6, core=False, title="Another number of ranks", points=3, minutes=20, of="a load", values=0.6,
    parameters="read, numel, old, new, rank", reference="lockstep.sharded.resharding:reshard",
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t.endswith("for 1")}) for t in TRIED],
    watch=lambda fn, call: dict(zip(NAMES, ("shard", *map(plain, observed(fn, *call))), strict=True)),
    footprint=lambda seen: [evidence["reads"] for evidence in seen.returned[0]],
    budgets=(Budget(READ, lambda case: calls(case)[0][0], "each once"), Budget(READS, needed, "one an old shard")),
)  # fmt: skip
