"""What a pipeline costs, in formulas: idle time, activations that wait, versions of weights.

    p      stages                          F, B   seconds of a forward and of a backward pass of a stage
    m      micro-batches of a step         B, W   where it has two halves: the input's gradient, the weights'
    v      chunks of the model on a stage
    s      a stage, from 0

                        idle on each stage     of the whole step      activations of stage s    versions of weights
    naive               all but its own turn   (p-1)/p                1                         1
    GPipe               (p-1)(F+B)             (p-1)/(m+p-1)          m                         1
    1F1B                (p-1)(F+B)             (p-1)/(m+p-1)          min(m, p-s)               1
    interleaved         (p-1)(F+B)/v           (p-1)/(v·m+p-1)        more, in chunks           1
    ZB-H1               (p-1)(F+B-W)                                  min(m, p)                 1
    PipeDream           (p-1)(F+B), once                              min(m, p-s)               p-s

Papers give the bubble in two ways: by the *whole* step, as here, or by the *ideal* time m(F+B), as Narayanan et al.:
then it is (p-1)/m, and 1 or more where there are fewer micro-batches than stages.

Sources: Huang et al., arXiv:1811.06965, section 2.3; Narayanan et al., SOSP 2019, section 3; SC 2021, arXiv:2104.04473,
section 2.2; Qi et al., arXiv:2401.10241, Table 1. ``pipeline.schedule_costs`` finds the same by counting in
the streams.
"""

from __future__ import annotations

from lockstep.errors import UsageError

SCHEDULES = ("naive", "gpipe", "gpipe, re-materialised", "one_f_one_b", "interleaved", "pipedream", "zb_h1")


def bubble(p: int, m: int, v: int = 1) -> float:
    """The share of the step that a stage is idle: GPipe, 1F1B, and with ``v`` chunks interleaved 1F1B."""
    check(p, m, v)
    return (p - 1) / (v * m + p - 1)


def bubble_by_ideal(p: int, m: int, v: int = 1) -> float:
    """The same idle time by the time without idling."""
    check(p, m, v)
    return (p - 1) / (v * m)


def naive_bubble(p: int) -> float:
    """One stage at work, p - 1 idle."""
    check(p)
    return (p - 1) / p


def idle_seconds(p: int, forward: float, backward: float, v: int = 1) -> float:
    """On each stage, in each step. ``forward``, ``backward``: seconds of a micro-batch on a whole stage."""
    check(p, 1, v)
    return (p - 1) * (forward + backward) / v


def zb_h1_idle_seconds(p: int, forward: float, backward_input: float, backward_weights: float) -> float:
    """For W no longer than F and B, and 2p micro-batches or more; p are enough where the three are equally long."""
    check(p)
    return (p - 1) * (forward + backward_input - backward_weights)


def micro_batches_for(p: int, most: float, v: int = 1) -> int:
    """The fewest micro-batches with which the bubble is ``most`` of the step, or less. Raises UsageError."""
    check(p, 1, v)
    if not 0 < most < 1:
        raise UsageError(f"A share of the step lies between 0 and 1, not at {most}.")
    m = max(1, int((p - 1) * (1 - most) / (most * v)) - 1)
    while bubble(p, m, v) > most * (1 + 1e-12):
        m += 1
    return m


def speedup(p: int, m: int, v: int = 1) -> float:
    """By one stage with all layers, if stages are balanced and messages cost nothing: p less the bubble."""
    return p * (1 - bubble(p, m, v))


def activations_in_flight(schedule: str, s: int, p: int, m: int, v: int = 1) -> int:
    """How many micro-batches' activations stage ``s`` keeps at once; with ``v`` chunks, of one chunk each."""
    check(p, m, v, schedule)
    if schedule == "interleaved" and v > 1:
        return min(m * v, (v - 1) * p + 2 * (p - s - 1) + 1)
    return {
        "naive": 1,
        "gpipe": m,
        "gpipe, re-materialised": 1,  # and m inputs
        "zb_h1": min(m, p),
    }.get(schedule, min(m, p - s))


def weight_versions(schedule: str, s: int, p: int, m: int) -> int:
    """How many versions of its weights stage ``s`` keeps at once, with weight stashing: p - s with PipeDream. With few
    micro-batches there are fewer: the n of the warm-up have all seen the first one."""
    check(p, m, 1, schedule)
    n = min(m, p - s)
    return min(n, m - n + 2) if schedule == "pipedream" else 1


def check(p: int, m: int = 1, v: int = 1, schedule: str = SCHEDULES[0]) -> None:
    if min(p, m, v) < 1:
        raise UsageError(f"There is no pipeline of {p} stages, {m} micro-batches and {v} chunks.", "1 or more of each.")
    if schedule not in SCHEDULES:
        raise UsageError(f"There is no schedule {schedule!r}.", f"Choose one of: {', '.join(SCHEDULES)}.")
