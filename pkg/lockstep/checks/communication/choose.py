"""``choose_algorithm``: a pure function, judged on many queries. A wrong formula is recognised by what it would
answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, fault_of, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told
from lockstep.cost.algorithms import log2_ceil

POINTS = 3
Query = tuple[int, int, float, float]
Seconds = Callable[[int, int, float, float], dict[str, float]]


def seconds(n: float, K: int, a: float, b: float) -> dict[str, float]:
    """What each all-reduce takes by alpha-beta; halving and doubling for powers of two only."""
    times = {
        "ring": 2 * (K - 1) * a + 2 * (K - 1) / K * n * b,
        "tree": 2 * log2_ceil(K) * (a + n * b),
        "halving_doubling": 2 * log2_ceil(K) * a + 2 * (K - 1) / K * n * b,
    }
    return times if _is_power(K) else {k: v for k, v in times.items() if k != "halving_doubling"}


def _is_power(K: int) -> bool:
    return K & (K - 1) == 0


def _with(name: str, formula: Callable[[int, int, float, float], float]) -> Seconds:
    """The table with one formula changed."""
    return lambda n, K, a, b: {**seconds(n, K, a, b), name: formula(n, K, a, b)}


def _any_ranks(n: int, K: int, a: float, b: float) -> dict[str, float]:
    smooth = 2 * math.log2(K) * a + 2 * (K - 1) / K * n * b
    return {**seconds(n, K, a, b), "halving_doubling": smooth}


def _threshold(n: int, K: int, a: float, b: float) -> dict[str, float]:
    return {"halving_doubling" if _is_power(K) else "tree" if n < 1_000_000 else "ring": 0.0}


WRONG_CHOICES: Sequence[tuple[str, str, Seconds]] = (
    ("always-ring", 'You always answer "ring". With many ranks and short messages its 2(K-1) rounds cost too much.',
     lambda n, K, a, b: {"ring": 0.0}),
    ("ignores-power-of-two", "You choose halving and doubling where the number of ranks is no power of two, where it "
     "does not exist.", _any_ranks),
    ("fixed-threshold", "You decide by the bytes alone. Where the algorithms cross depends on alpha and beta.",
     _threshold),
    ("one-round-tree", "It looks as if your tree took one round up and one down: it takes ceil(log2 K) each way.",
     _with("tree", lambda n, K, a, b: 2 * (a + n * b))),
    ("forgets-k-minus-one", "It looks as if your ring took two rounds: it takes 2(K-1), each with n/K bytes.",
     _with("ring", lambda n, K, a, b: 2 * a + 2 * n * b / K)),
    ("bandwidth-only", "It looks as if alpha did not count: each round costs alpha, however short its message.",
     lambda n, K, a, b: seconds(n, K, 0.0, b)),
    ("latency-only", "It looks as if beta did not count: bytes cost time too.",
     lambda n, K, a, b: seconds(n, K, a, 0.0)),
    ("swapped", "It looks as if alpha and beta were exchanged.", lambda n, K, a, b: seconds(n, K, b, a)),
    ("bits-not-bytes", "It looks as if nbytes were counted in bits.", lambda n, K, a, b: seconds(8 * n, K, a, b)),
    ("picks-dearest", "You choose the slowest: take the minimum.",
     lambda n, K, a, b: {k: -v for k, v in seconds(n, K, a, b).items()}),
)  # fmt: skip


def _choose_cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"trivial": False})]


def _queries(case: Case) -> list[Query]:
    """Around where ring and tree cross, near and far, for many sizes of world and several machines."""
    draw = random.Random(case.seed)
    rows: list[Query] = []
    for alpha, beta in ((50e-6, 1e-9), (3e-6, 4e-12), (1e-3, 1e-8), (1e-7, 1e-9)):
        for K in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 48, 64, 100, 1000):
            crossing = _crossing(K, alpha, beta) or alpha / beta
            factors = (0.01, 0.3, 0.9, 1.1, 3.0, 9.0, 100.0)
            rows += [(max(1, int(crossing * f * draw.uniform(0.97, 1.03))), K, alpha, beta) for f in factors]
    return rows


def _crossing(K: int, alpha: float, beta: float) -> float | None:
    """The bytes at which ring and tree take equally long: L(a + n·b) = (K-1)·a + (K-1)/K·n·b, L = ceil(log2 K)."""
    depth, rest = log2_ceil(K), (K - 1) / K
    return (K - 1 - depth) * alpha / ((depth - rest) * beta) if K > 2 and depth < K - 1 else None


def _choose_calls(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple(_queries(case))


def _cheapest(times: dict[str, float]) -> set[str]:
    least = min(times.values())
    return {name for name, value in times.items() if value <= least + 1e-9 * abs(least)}


def _choose_examine(seen: Seen) -> Fault | None:
    queries, answers = _queries(seen.case), seen.returned[0]
    wrong = [(q, a) for q, a in zip(queries, answers, strict=True) if not _may(a, seconds, q)]
    if not wrong:
        return None
    (n, K, a, b), answer = wrong[0]
    table = ", ".join(f"{name} {value * 1e6:,.1f} µs" for name, value in seconds(n, K, a, b).items())
    begin = f"For {n:,} bytes on {K} ranks with alpha = {a:g} and beta = {b:g} you answer {told(answer)}: {table}. "
    begin += f"{len(wrong)} of {len(queries)} answers are wrong. "
    for id, message in _explanations(queries, answers):
        return Fault(id, begin + message)
    return Fault("wrong-values", f'{begin}Answer "ring", "tree" or "halving_doubling", whichever takes the least time.')


def _may(answer: Any, formula: Seconds, query: Query) -> bool:
    """Whether ``answer`` is a cheapest one by ``formula``. On one rank everything costs nothing: any will do."""
    if query[1] == 1:
        return isinstance(answer, str)
    return isinstance(answer, str) and answer in _cheapest(formula(*query))


def _explanations(queries: Sequence[Query], answers: Sequence[Any]) -> list[tuple[str, str]]:
    """The misconceptions that would give all of these answers."""
    pairs = list(zip(queries, answers, strict=True))
    return [(id, told) for id, told, formula in WRONG_CHOICES if all(_may(a, formula, q) for q, a in pairs)]


def _judge_choose(observation: Observation) -> list[Finding]:
    """Half of the points for nine answers out of ten. Several misconceptions may explain them."""
    found = mark(observation, POINTS, _choose_examine)
    seen = next(iter(observation), None)
    if not found or seen is None or seen.failure or not fault_of(seen, _choose_examine):
        return found
    queries, answers = _queries(seen.case), seen.returned[0]
    counted = [(q, a) for q, a in zip(queries, answers, strict=True) if q[1] > 1]
    right = sum(_may(a, seconds, q) for q, a in counted) / len(counted)
    earned = POINTS / 2 if right >= 0.9 else 0.0
    others = [Finding(f"Or: {told}", id) for id, told in _explanations(queries, answers)[1:]]
    return [Finding(found[0].message, found[0].misconception, POINTS - earned), *found[1:], *others]


CHOOSE = Exercise(
    id="communication.choose_algorithm",
    title="Choose an algorithm",
    points=POINTS,
    minutes=20,
    parameters="nbytes, ranks, alpha, beta",
    cases=_choose_cases,
    inputs=_choose_calls,
    judge=_judge_choose,
    reference="lockstep.cost.fit:choose_algorithm",
    worlds=(1,),
    pure=True,
)
