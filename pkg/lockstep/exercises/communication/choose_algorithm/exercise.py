"""Choose: the name of the cheapest all-reduce, for many messages, sizes of world and machines."""

import random
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number_of
from lockstep.checks.observation import Seen
from lockstep.cost.algorithms import all_reduces, log2_ceil
from lockstep.cost.fit import CHOICES

MACHINES = ((50e-6, 1e-9), (3e-6, 4e-12), (1e-3, 1e-8), (1e-7, 1e-9))  # alpha and beta
NAMES = '"ring", "tree" or "halving_doubling"'


def queries(case: Case, rank: int) -> tuple[tuple[int, int, float, float], ...]:
    """Around the size at which ring and tree take equally long, near and far. On one rank all cost nothing."""
    draw, rows = random.Random(case.seed), []
    for alpha, beta in MACHINES:
        for K in (2, 3, 4, 5, 6, 7, 8, 12, 16, 48, 64, 100, 1000):
            crossing = alpha / beta if K <= 3 else (K - 1 - log2_ceil(K)) / (log2_ceil(K) - (K - 1) / K) * alpha / beta
            factors = (0.0, 0.01, 0.3, 0.9, 0.98, 1.02, 1.1, 3.0, 9.0, 100.0)
            rows += [(int(crossing * f * draw.uniform(0.99, 1.01)), K, alpha, beta) for f in factors]
        rows.append((1000, 1, alpha, beta))
    return tuple(rows)


def seconds(nbytes: int, ranks: int, alpha: float, beta: float) -> dict[str, float]:
    """What each of those that exist takes."""
    offered = all_reduces(ranks)
    return {name: offered[own](nbytes, ranks, alpha, beta).seconds for name, own in CHOICES.items() if own in offered}


def cheapest(case: Case) -> list[frozenset[str]]:
    """All of the cheapest, for each query."""
    tables = [seconds(*query) for query in queries(case, 0)]
    return [frozenset(n for n, s in table.items() if s <= min(table.values()) * (1 + 1e-9)) for table in tables]


def told_seconds(*query: Any) -> str:
    return ", ".join(f"{name} {value * 1e6:,.1f} µs" for name, value in seconds(*query).items()) + "."


def unnamed(seen: Seen) -> Fault | None:
    """The first answer that is none of the three names."""
    for answer in seen.returned[0]:
        if isinstance(answer, str) and answer not in CHOICES:
            near: Sequence[str] = get_close_matches(answer.lower(), CHOICES, 1, cutoff=0.5)
            meant = f' Write "{near[0]}" instead.' if near else ""
            return Fault("misspelt-name", f'"{answer}" is none of the three names, letter by letter: {NAMES}.{meant}')
        if number_of(answer) is not None:
            advice = "Of a dict of times, min(times.values()) is the least time; min(times, key=times.get) is its name."
            told = f"You return a number, {number_of(answer):.4g}; the name of the cheapest is wanted: {NAMES}."
            return Fault("returns-cost", f"{told} {advice}")
    return None


def alike(seen: Seen) -> Any:
    """The wrong answers; of two that cost the same either is right."""
    return [None if a in may else a for a, may in zip(seen.returned[0], cheapest(seen.case), strict=True)]


EXERCISE = Exercise(
    number=9,
    core=False,
    title="Choose an algorithm",
    points=3,
    minutes=20,
    parameters="nbytes, ranks, alpha, beta",
    reference="lockstep.cost.fit:choose_algorithm",
    worlds=(1,),
    pure=True,
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": "several machines"})],
    inputs=queries,
    wanted=cheapest,
    asked=f"the name alone, {NAMES},",
    steps=told_seconds,
    nearly=0.9,
    examine=unnamed,
    alike=alike,
)
