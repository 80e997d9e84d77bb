"""Share examples out. Any order is right: judged is who has what, and what the next epoch changes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Comparison, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.wording import counted
from lockstep.exercises.all_reduce_sgd.shares import Facts, Partition, observed

EPOCHS = (0, 1, 2, 3, 100)  # a late one, too: a seed may come again after ten
SIZES = ((600, 4), (400, 8), (200, 1), (10, 4), (12, 3), (3, 5), (0, 2))  # examples, ranks


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(f"{n} examples on {counted(k, 'rank')}", n, k) for n, k in SIZES]
    return [Case(1, seed, None, {"told": told, "n": n, "ranks": k, "trivial": n < 10}) for told, n, k in rows]


def calls(case: Case, rank: int) -> list[tuple[list[Any], int, Sequence[int]]]:
    """What ``observed`` is given. Of twelve examples two each are equal, and none can be hashed. Ten are pairs of a
    text and a number, of which an array makes two texts."""
    n, ranks = case.settings["n"], case.settings["ranks"]
    dataset = [[i // 2] if n == 12 else (f"{i:03}.png", i % 3) if n == 10 else f"digit {i:03}.png" for i in range(n)]
    return [(dataset, ranks, EPOCHS)]


def watch(fn: Partition, call: tuple[Any, ...]) -> Facts:
    dataset, ranks, epochs = call
    return observed(fn, dataset, ranks, epochs, twice=len(dataset) >= 200)


OWN = "Make a generator of your own, and seed it with the epoch."
TOLD = (  # the most telling first: where a fact has this value (None: is anything), this is wrong
    ("kind", None, "wrong-type", "an answer is of type {kind}; a list of examples is wanted."),
    ("position", True, "positions", "you return the position {foreign}: return the example there."),
    ("foreign", None, "no-example", "you return {foreign}, which is no item of the dataset. Return its items "
     "as they are."),
    ("depends", "call", "unrepeatable", "the same call a second time gives another answer."),
    ("depends", "hash", "salted-hash", f"hash() of text is another number in each process of Python. {OWN}"),
    ("depends", "random", "unseeded", f"the program's own random numbers decide, and ranks differ in them. {OWN}"),
    ("own", True, "own-orders", "{lost} examples are on no rank, {doubled} on several, as if each rank had shuffled in "
     "its own way: all must come to one order, whatever their rank."),
    ("tail", "dropped", "drops-tail", "each rank has {sizes[0]} of {n} examples, and the rest are on none."),
    ("tail", "padded", "pads-tail", "each rank has {sizes[0]} of {n} examples, so some are there twice."),
    ("lost", None, "wrong-values", "{lost} of {n} examples are on no rank in epoch {epoch}."),
    ("doubled", None, "wrong-values", "an example is on ranks {holders} in epoch {epoch}."),
    ("uneven", True, "uneven", "ranks have {sizes} examples. All wait for the longest list: they may differ by one."),
    ("stays", "file", "not-shuffled", "in epoch {between} all lists are in the dataset's order. Shuffle, then deal."),
    ("stays", "all", "forgets-epoch", "epochs {between} are all the same. Does your seed change with the epoch?"),
    ("stays", "sets", "same-shares", "in epochs {between} the same examples are together. Shuffle all, then deal out."),
    ("stays", "pairs", "hardly-mixed", "in epochs {between} {still} % of the pairs of examples that share a rank are "
     "the same; after a shuffle it is about {usual} %."),
    ("stays", "order", "same-order", "in epochs {between} the examples of a list come in the same order."),
    ("touched", None, "touches-generator", "your lists are right, but the program's next random numbers from {touched} "
     f"are other ones than without your call. {OWN}"),
)  # fmt: skip


def rule(fact: str, value: Any, id: str, told: str) -> Rule:
    return Rule(id, lambda e: e[fact] if value is None else e[fact] == value, told)


def examine(seen: Seen) -> Fault | None:
    fault = first([rule(*row) for row in TOLD], seen.returned[0][0])
    return replace(fault, message=f"With {seen.case}, {fault.message}") if fault else None


EXERCISE = Exercise(
    number=3,
    title="Who gets which examples?",
    points=3,
    minutes=20,
    parameters="dataset, rank, ranks, epoch",
    reference="lockstep.data_parallel.sampler:partition",
    cases=cases,
    inputs=calls,
    worlds=(1,),
    pure=True,
    values=Values(examine=examine, share=1.0, may_change=["dataset.shared"]),
    comparison=Comparison(
        alike=lambda seen: [seen.returned[0][0].get(name) for name in ("sizes", "lost", "doubled", "stays")],
    ),
    run=Run(watch=watch, timeout=2.5),
)
