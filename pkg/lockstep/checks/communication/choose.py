"""``choose_algorithm``: a pure function, judged on many queries. A wrong formula is recognised by what it would
answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, fault_of, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told
from lockstep.checks.wording import counted
from lockstep.cost.algorithms import log2_ceil

POINTS = 3
Query = tuple[int, int, float, float]
Seconds = Callable[[float, int, float, float], dict[str, float]]


def seconds(n: float, K: int, a: float, b: float) -> dict[str, float]:
    """What each all-reduce takes by alpha-beta; halving and doubling for powers of two only."""
    return _with_depth(log2_ceil)(n, K, a, b)


def _with_depth(depth: Callable[[int], float], everywhere: bool = False) -> Seconds:
    """The table for some idea of log2 K; with halving and doubling for any number of ranks if ``everywhere``."""

    def times(n: float, K: int, a: float, b: float) -> dict[str, float]:
        rounds, moved = depth(K), 2 * (K - 1) / K * n * b
        table = {"ring": 2 * (K - 1) * a + moved, "tree": 2 * rounds * (a + n * b)}
        return {**table, "halving_doubling": 2 * rounds * a + moved} if everywhere or _is_power(K) else table

    return times


def _floor(K: int) -> int:
    return K.bit_length() - 1


def _is_power(K: int) -> bool:
    return K & (K - 1) == 0


def _with(name: str, formula: Callable[[float, int, float, float], float]) -> Seconds:
    """The table with one formula changed."""
    return lambda n, K, a, b: {**seconds(n, K, a, b), name: formula(n, K, a, b)}


def _mixed(n: float, K: int, a: float, b: float) -> dict[str, float]:
    """The tree's rounds rounded up, those of halving and doubling not, for any number of ranks."""
    return {**_with_depth(math.log2, True)(n, K, a, b), "tree": seconds(n, K, a, b)["tree"]}


def _threshold(n: float, K: int, a: float, b: float) -> dict[str, float]:
    return {"halving_doubling" if _is_power(K) else "tree" if n < 1_000_000 else "ring": 0.0}


_NO_POWER = "You choose halving and doubling where the number of ranks is no power of two: it does not exist there."
_FLOOR = (
    "It looks as if log2 K were rounded down. 5 ranks need 3 rounds: round up, as in math.ceil(math.log2(ranks)) or "
    "(ranks - 1).bit_length()."
)

WRONG_CHOICES: Sequence[tuple[str, str, Seconds]] = (
    ("always-ring", 'You always answer "ring". With many ranks and short messages its 2(K-1) rounds cost too much.',
     lambda n, K, a, b: {"ring": 0.0}),
    ("ignores-power-of-two", _NO_POWER, _mixed),
    ("ignores-power-of-two", _NO_POWER, _with_depth(log2_ceil, everywhere=True)),
    ("ignores-power-of-two", f"{_NO_POWER} And log2 K is to be rounded up.", _with_depth(math.log2, everywhere=True)),
    ("ignores-power-of-two", f"{_NO_POWER} And log2 K is to be rounded up.", _with_depth(_floor, everywhere=True)),
    ("rounds-log2-down", _FLOOR, _with_depth(_floor)),
    ("log2-not-rounded", "It looks as if log2 K were not rounded: there are whole rounds only, so round it up.",
     _with_depth(math.log2)),
    ("one-round-too-many", "It looks as if ranks.bit_length() were log2 K: for 8 ranks it is 4. Take (ranks - 1)"
     ".bit_length().", _with_depth(int.bit_length)),
    ("natural-logarithm", "It looks as if your logarithm were the natural one, math.log: take math.log2, rounded up.",
     _with_depth(math.log)),
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
    (n, K, a, b), answer = max(wrong, key=lambda row: row[0][1] > 1)  # the first, and one rank only if all are
    table = ", ".join(f"{name} {value * 1e6:,.1f} µs" for name, value in seconds(n, K, a, b).items())
    begin = f"For {counted(n, 'byte')} on {counted(K, 'rank')} with alpha = {a:g} and beta = {b:g} "
    begin += f"you answer {told(answer)}"
    unnamed = next((fault for _, value in wrong if (fault := _no_name(value, begin))), None)
    if unnamed:
        return unnamed
    begin += f": {table}. {len(wrong)} of {len(queries)} answers are wrong. "
    for id, message in _explanations(queries, answers):
        return Fault(id, begin + message)
    return Fault("wrong-values", f"{begin}Answer {_NAMES}, whichever takes the least time.")


NAMES = ("ring", "tree", "halving_doubling")
_NAMES = '"ring", "tree" or "halving_doubling"'


def _no_name(answer: Any, begin: str) -> Fault | None:
    """What is not among the three names, and what it may be instead."""
    if isinstance(answer, str):
        near = get_close_matches(answer.lower(), NAMES, 1, cutoff=0.5)
        meant = f' Write "{near[0]}" instead.' if near else ""
        message = f'"{answer}" is none of the three names, letter by letter: {_NAMES}.{meant}'
        return None if answer in NAMES else Fault("misspelt-name", message)
    if answer is None:
        return Fault("returns-nothing", f"{begin}. Is there a path through your function without a return?")
    if isinstance(answer, (int, float)):
        advice = "Of a dict of times, min(times.values()) is the least time; min(times, key=times.get) is its name."
        return Fault("returns-cost", f"{begin}, a number. The name of the cheapest is wanted: {_NAMES}. {advice}")
    return Fault("wrong-type", f"{begin}. The name of the cheapest alone is wanted, as text: {_NAMES}.")


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
    if any(_no_name(answer, "") for answer in answers):
        return found
    counted = [(q, a) for q, a in zip(queries, answers, strict=True) if q[1] > 1]
    right = sum(_may(a, seconds, q) for q, a in counted) / len(counted)
    earned, first = POINTS / 2 if right >= 0.9 else 0.0, found[0].misconception
    others = [Finding(f"Or: {told}", id) for id, told in _explanations(queries, answers)[1:] if id != first]
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
