"""A checkpoint of K ranks for another number of them: judged by the shard, and by what was read for it."""

from collections.abc import Sequence

from lockstep.checks.arrays import Arrays
from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule
from lockstep.checks.plain import plain
from lockstep.exercises.fsdp.recorded_reads import numbers, observed
from lockstep.sharded.flat import shard_of
from lockstep.sharded.resharding import pieces

SIZES = ((24, 4, 2), (24, 2, 4), (60, 4, 6), (61, 4, 3), (100, 7, 9), (5, 4, 3), (5, 3, 8), (23, 5, 1), (12, 1, 1))
TRIED = {f"{N} numbers of {old} ranks for {new}": (N, old, new) for N, old, new in SIZES}


def calls(case: Case) -> Sequence[tuple[int, int, int, int, int]]:
    """Each of the new ranks, and the seed of what is saved."""
    return [(*TRIED[str(case)], rank, case.seed) for rank in range(TRIED[str(case)][2])]


READ = Measure(
    lambda seen: sum(e["numbers"] for e in seen.returned[0]),
    "number", "all new ranks read {}", "{} read", "numbers",
)  # fmt: skip
READS = Measure(lambda seen: sum(len(e["reads"]) for e in seen.returned[0]), "time", "read is called {}", "{}", "reads")
NOT_READ = Rule(
    "not-read", lambda e: e["unread"] > 0,
    "the shard is right, and {unread} of its numbers were not read: they came about in another way.",
)  # fmt: skip
EXERCISE = Arrays(
    calls, lambda numel, old, new, rank, seed: shard_of(numbers(numel, seed), rank, new), [NOT_READ],
    asked="a float32 tensor", told="numel={0}, old={1}, new={2}, rank={3}",
).exercise(
    number=6, core=False, title="Another number of ranks", points=3, minutes=20, of="a load", values=0.6,
    parameters="read, numel, old, new, rank", reference="lockstep.sharded.resharding:reshard",
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t.endswith("for 1")}) for t in TRIED],
    watch=lambda fn, call: observed(lambda *own: plain(fn(*own)), *call),
    footprint=lambda seen: [evidence["reads"] for evidence in seen.returned[0]],
    budgets=(
        Budget(READ, lambda case: calls(case)[0][0], "each once"),
        Budget(READS, lambda case: sum(len([*pieces(*call[:4])]) for call in calls(case)), "one an old shard"),
    ),
)  # fmt: skip
