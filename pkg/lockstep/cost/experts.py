"""A mixture-of-experts layer under expert parallelism: bytes sent and kept, and seconds, from the loads of its experts.

    K       ranks, each with E/K of the E experts         d, h   width; hidden width of an expert
    T, k    tokens of a rank; experts of a token          b      bytes of a number
    n[r][e] rows that rank r has for expert e: the *loads*. Their sum over e is T·k, minus those dropped

    R_r = Σ_e n[r][e]                  rows that rank r sends
    S_r = Σ_r' Σ_{e on r} n[r'][e]     rows that it receives, and computes

                       input     output      in a trace (``events.Event.nbytes``)    leaves the rank
    counts                E          E         8·E, whole numbers                      8·E·(K-1)/K
    dispatch             R_r        S_r        b·d·max(R_r, S_r)                       b·d·Σ n[r][e], e elsewhere
    combine              S_r        R_r        the same                                b·d·Σ n[r'][e], r' ≠ r, e on r
    backward             both once more, in reverse; counts are known

With even loads, R_r = S_r = T·k: an all-to-all of b·d·T·k bytes, of which (K-1)/K leave. In a training step there are
four of them for each layer of experts: 4·b·d·T·k·(K-1)/K bytes.

Time: the rank that receives most computes longest, and the others wait for its results: forward A + max c_r + A,
backward A + max 2·c_r + A, where an all-to-all takes A = ``collectives.collective_time`` of the largest max(R_r, S_r).

Source of the ratio of communication to computation: Nie et al., "LSH-MoE", arXiv:2411.08446, equation 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from lockstep.cost.collectives import collective_time
from lockstep.cost.operations import op_time
from lockstep.cost.sharding import ADAM, States, bytes_of
from lockstep.cost.training import Recipe
from lockstep.errors import UsageError
from lockstep.events import Count
from lockstep.machines import Cluster

COUNT = 8  # bytes of a whole number

Loads = Sequence[Sequence[int]]  # n[r][e]


class Rows(NamedTuple):
    """Rows that a rank sends and receives, and its own among both: those it has for its own experts."""

    sent: int
    received: int
    own: int


def rows(loads: Loads) -> list[Rows]:
    """The rows of each rank: R_r, S_r, and those for its own experts. Raises UsageError for an invalid table."""
    K, E = len(loads), len(loads[0]) if loads else 0
    if not E or E % K or any(len(of_rank) != E or min(of_rank) < 0 for of_rank in loads):
        raise UsageError("The loads are a row for each rank, of as many experts, 0 or more each; ranks divide experts.")
    here = [range(r * E // K, (r + 1) * E // K) for r in range(K)]
    return [
        Rows(
            sum(loads[r]),
            sum(of_rank[e] for of_rank in loads for e in here[r]),
            sum(loads[r][e] for e in here[r]),
        )
        for r in range(K)
    ]


def even_loads(ranks: int, experts: int, tokens: int, k: int = 1) -> list[list[int]]:
    """Loads of ``tokens``·k rows a rank, spread over the experts as evenly as possible."""
    each, more = divmod(tokens * k, experts)
    return [[each + (e < more) for e in range(experts)] for _ in range(ranks)]


def capacity(factor: float, tokens: int, k: int, experts: int) -> int:
    """The capacity of an expert for the tokens of one rank: ceil(factor·k·tokens/experts). Switch, equation 3."""
    return math.ceil(factor * k * tokens / experts)


def with_capacity(loads: Loads, places: int) -> tuple[list[list[int]], int]:
    """(the loads with at most ``places`` rows of a rank for an expert, the number of rows that are dropped)."""
    left = [[min(n, places) for n in of_rank] for of_rank in loads]
    return left, sum(map(sum, loads)) - sum(map(sum, left))


# ---- what is sent


def booked(loads: Loads, width: int, number: int = 4, backward: bool = True) -> list[Count]:
    """The all-to-alls of each rank in a step, and their bytes as a trace counts them: one of the counts, then two of
    tokens forward and two backward. ``number``: bytes of a number."""
    calls, E = 4 if backward else 2, len(loads[0])
    return [Count(1 + calls, COUNT * E + calls * number * width * max(r.sent, r.received)) for r in rows(loads)]


def sent(loads: Loads, width: int, number: int = 4, backward: bool = True) -> list[float]:
    """Bytes that leave each rank in a step: rows for other ranks' experts, results returned to other ranks, backward
    the same again; and its counts."""
    K, E = len(loads), len(loads[0])
    passes = 2 if backward else 1
    counts = COUNT * E * (K - 1) / K
    return [counts + passes * number * width * (r.sent - r.own + r.received - r.own) for r in rows(loads)]


# ---- what is kept


def expert_states(experts: int, ranks: int, width: int, hidden: int, recipe: Recipe = ADAM) -> States:
    """Bytes of model states on a rank: its E/K experts of 2·d·h numbers each, and the replicated gate of d·E."""
    numbers = experts // ranks * 2 * width * hidden + width * experts
    return States(*(each * numbers for each in bytes_of(recipe)))


# ---- how long it takes


def all_to_all_seconds(loads: Loads, width: int, cluster: Cluster, number: int = 4) -> float:
    """Seconds of one all-to-all of the tokens: all ranks are done when the busiest is."""
    most = max(max(r.sent, r.received) for r in rows(loads))
    return collective_time("all_to_all", number * width * most, range(len(loads)), cluster)


def compute_seconds(n: int, width: int, hidden: int, cluster: Cluster, rank: int = 0) -> tuple[float, float]:
    """(forward, backward) seconds of an expert with n rows, float32: 2 matrix products, and 4. 0 for no rows."""
    if not n:
        return 0.0, 0.0
    device, moved = cluster.device_of(rank), 4 * (n * width + width * hidden + n * hidden)
    product = op_time(device, 2 * n * width * hidden, moved)
    return 2 * product, 4 * product


def step_seconds(loads: Loads, width: int, hidden: int, cluster: Cluster) -> float:
    """Seconds of a training step of the layer, float32, without the gate: all wait for the rank that computes
    longest."""
    K, E = len(loads), len(loads[0])
    per_expert = [sum(of_rank[e] for of_rank in loads) for e in range(E)]
    forward, backward = (
        max(
            sum(compute_seconds(per_expert[e], width, hidden, cluster, r)[way] for e in _experts_of(r, K, E))
            for r in range(K)
        )
        for way in (0, 1)
    )
    counts = collective_time("all_to_all", COUNT * E, range(K), cluster)
    return counts + 4 * all_to_all_seconds(loads, width, cluster) + forward + backward


def _experts_of(r: int, K: int, E: int) -> range:
    return range(r * E // K, (r + 1) * E // K)


def to_compute(k: int, ranks: int, width: int, flops: float, bandwidth: float, number: int = 4) -> float:
    """The ratio of communication to computation of a layer in a training step with even loads: seconds of its
    all-to-alls, 4·b·k·d·(K-1)/K bytes a token, divided by those of the projections of attention and of the experts,
    6·(4·d² + k·8·d²) FLOPs."""
    moved = 4 * number * k * width * (ranks - 1) / ranks
    computed = 6 * (4 * width**2 + k * 8 * width**2)
    return (moved / bandwidth) / (computed / flops)


def published_to_compute(k: int, ranks: int, width: int, flops: float, bandwidth: float) -> float:
    """The same ratio by LSH-MoE's equation 6, with w servers: FLOPs/(6·B) · k/(1+2k) · (w-1)/(w·h). Its B is in numbers
    per second, not bytes."""
    return flops / (6 * bandwidth) * k / (1 + 2 * k) * (ranks - 1) / (ranks * width)
