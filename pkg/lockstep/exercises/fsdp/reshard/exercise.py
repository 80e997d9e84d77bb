"""A checkpoint of K ranks for another number of them: judged by the shard, and by what was read for it."""

from collections.abc import Sequence

from lockstep.checks.arrays import Arrays
from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Costs, Run, Values
from lockstep.exercises.fsdp.padding import strange_memory
from lockstep.exercises.fsdp.recorded_reads import READ, READS, RULES, Read, numbers, observed, refused, unread
from lockstep.sharded.flat import shard_of
from lockstep.sharded.sharded_checkpoints import pieces

SIZES = (
    (24, 4, 2), (24, 2, 4), (60, 4, 6), (61, 4, 3), (61, 4, 4), (100, 7, 9), (5, 4, 3), (5, 3, 8), (23, 5, 1),
    (12, 1, 1),
)  # fmt: skip
TRIED = {f"{N} numbers of {old} ranks for {new}": (N, old, new) for N, old, new in SIZES}


def calls(case: Case) -> Sequence[tuple[int, int, int, int, int]]:
    """The seed of what is saved, and each of the new ranks."""
    return [(Read(case.seed), *TRIED[str(case)], rank) for rank in range(TRIED[str(case)][2])]


EXERCISE = Arrays(
    calls, lambda seed, numel, old, new, rank: shard_of(numbers(numel, seed), rank, new), rules=RULES,
    remark=unread, asked="a float32 tensor", told="numel={1}, old={2}, new={3}, rank={4}",
).exercise(
    number=7, core=False, title="Another number of ranks", points=3, minutes=20,
    parameters="read, numel, old, new, rank", reference="lockstep.sharded.sharded_checkpoints:reshard",
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t.endswith("for 1")}) for t in TRIED],
    values=Values(share=0.6),
    costs=Costs(algorithm="a load", budgets=(
        Budget(READ, lambda case: calls(case)[0][1], "each once", advice="Padding is not read."),
        Budget(READS, lambda case: sum(len([*pieces(*call[1:])]) for call in calls(case)), "one an old shard",
               advice=refused),
    )),
    comparison=Comparison(footprint=lambda seen: [evidence["reads"] for evidence in seen.returned[0]]),
    run=Run(watch=lambda fn, call: observed(lambda *own: strange_memory(fn, own), *(*call[1:], call[0]))),
)  # fmt: skip
