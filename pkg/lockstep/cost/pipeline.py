"""What a pipeline costs, in formulas: idle time, versions of weights, and what a rank holds and sends, in bytes.

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

Memory and messages are those of a model of equal layers, such as an MLP of one width with ReLU:

    L      layers of a stage
    A      bytes of one layer's output for one micro-batch: examples x width x size of a number
    P      bytes of a stage's parameters
    n      micro-batches in flight at once, ``activations_in_flight``: m with GPipe, min(m, p-s) with 1F1B
    w      versions of weights, ``weight_versions``

    parameters        w·P
    gradients         P, and A for each gradient of an input that is being computed or sent: up to 2 (not on stage 0)
    optimizer state   P with momentum
    activations       (n·(L+1) + 1)·A: of each micro-batch in flight the input and every layer's output; and the operand
                      of ReLU or of the loss while it runs
                      stage 0 has the inputs of all m from the beginning, not of n; the last one all targets, m·A more
                      re-materialised: (m + L + 1)·A, all inputs and the layers of one micro-batch

    sent              m·A to the next stage, m·A to the previous one; with v chunks v times that, and between the last
                      stage and the first, too

``pipeline.worker`` was measured to hold exactly that, to the byte but for the losses, a few numbers. GPipe's paper has
O(N + L/K · N/M) with re-materialisation (arXiv:1811.06965, section 2.3): its N is m·A, and its L are the layers of all
K stages.

Sources: Huang et al., arXiv:1811.06965, section 2.3; Narayanan et al., SOSP 2019, section 3; SC 2021, arXiv:2104.04473,
section 2.2; Qi et al., arXiv:2401.10241, Table 1. ``pipeline.schedule_costs`` finds the same by counting in the streams
of instructions.
"""

from __future__ import annotations

from typing import NamedTuple

from lockstep.errors import UsageError

# ---- idle time, activations in flight, versions of weights

SCHEDULES = ("naive", "gpipe", "gpipe, re-materialised", "one_f_one_b", "interleaved", "pipedream", "zb_h1")


def bubble(p: int, m: int, v: int = 1) -> float:
    """The idle share of the whole step, of GPipe and 1F1B, and with ``v`` chunks a stage of interleaved 1F1B."""
    check(p, m, v)
    return (p - 1) / (v * m + p - 1)


def bubble_by_ideal(p: int, m: int, v: int = 1) -> float:
    """The idle time divided by the ideal time m(F+B), as in Narayanan et al."""
    check(p, m, v)
    return (p - 1) / (v * m)


def naive_bubble(p: int) -> float:
    """The idle share of the naive schedule: one stage computes, p - 1 are idle."""
    check(p)
    return (p - 1) / p


def idle_seconds(p: int, forward: float, backward: float, v: int = 1) -> float:
    """Idle seconds of each stage in a step. ``forward``, ``backward``: seconds of a micro-batch on a whole stage."""
    check(p, 1, v)
    return (p - 1) * (forward + backward) / v


def zb_h1_idle_seconds(p: int, forward: float, backward_input: float, backward_weights: float) -> float:
    """Idle seconds of each stage in a step of ZB-H1, for W no longer than F and B, and 2p micro-batches or more; p are
    enough where the three are equally long."""
    check(p)
    return (p - 1) * (forward + backward_input - backward_weights)


def micro_batches_for(p: int, most: float, v: int = 1) -> int:
    """The fewest micro-batches with a bubble of at most ``most``, a share of the step. Raises UsageError unless that is
    between 0 and 1."""
    check(p, 1, v)
    if not 0 < most < 1:
        raise UsageError(f"A share of the step lies between 0 and 1, not at {most}.")
    m = max(1, int((p - 1) * (1 - most) / (most * v)) - 1)
    while bubble(p, m, v) > most * (1 + 1e-12):
        m += 1
    return m


def speedup(p: int, m: int, v: int = 1) -> float:
    """The speedup over one stage with all layers, with balanced stages and free messages: p·(1 - bubble)."""
    return p * (1 - bubble(p, m, v))


def activations_in_flight(schedule: str, s: int, p: int, m: int, v: int = 1) -> int:
    """The most micro-batches whose activations stage ``s`` keeps at once; with ``v`` chunks, activations of one
    chunk."""
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
    """Versions of its weights that stage ``s`` keeps at once, with weight stashing: p - s with PipeDream. With few
    micro-batches there are fewer, since the n of the warm-up all use the first version."""
    check(p, m, 1, schedule)
    n = min(m, p - s)
    return min(n, m - n + 2) if schedule == "pipedream" else 1


def check(p: int, m: int = 1, v: int = 1, schedule: str = SCHEDULES[0]) -> None:
    if min(p, m, v) < 1:
        raise UsageError(f"There is no pipeline of {p} stages, {m} micro-batches and {v} chunks.", "1 or more of each.")
    if schedule not in SCHEDULES:
        raise UsageError(f"There is no schedule {schedule!r}.", f"Choose one of: {', '.join(SCHEDULES)}.")


# ---- bytes held and sent

MEASURED = ("naive", "gpipe", "gpipe, re-materialised", "one_f_one_b", "pipedream")


class Resident(NamedTuple):
    """Bytes on a rank, the peak of each kind."""

    parameters: int
    gradients: int
    optimizer_state: int
    activations: int


def resident(schedule: str, s: int, p: int, m: int, L: int, A: int, P: int) -> Resident:
    """The peaks of stage ``s``, each kind on its own, with momentum. Raises UsageError for schedules not in
    MEASURED."""
    check(p, m)
    if schedule not in MEASURED or not 0 <= s < p:
        raise UsageError(f"There is no formula for stage {s} of {schedule!r}.", f"Known: {', '.join(MEASURED)}.")
    n = activations_in_flight(schedule, s, p, m)
    held = m + L if "re-mat" in schedule else n * L + (m if s == 0 else n)
    if schedule == "naive" and s == 0 < p - 1 and m > 1:
        held += 1  # the previous output is still being sent: nothing was posted since
    targets = m if s == p - 1 else 0
    under_way = gradients_under_way(schedule, s, p, m)
    return Resident(weight_versions(schedule, s, p, m) * P, P + under_way * A, P, (held + 1 + targets) * A)


def gradients_under_way(schedule: str, s: int, p: int, m: int) -> int:
    """Gradients of inputs on stage ``s``: the one being computed; the one still being sent, if no message was posted
    since."""
    if s == 0:
        return 0
    last = s == p - 1
    two = {"naive": last, "gpipe": True, "gpipe, re-materialised": last, "one_f_one_b": True, "pipedream": False}
    return 2 if two[schedule] and m > 1 else 1


def sent_bytes(s: int, p: int, m: int, A: int, v: int = 1) -> int:
    """Bytes that stage ``s`` sends in a step: activations forward, gradients back. A single stage sends nothing."""
    check(p, m, v)
    if p == 1:
        return 0
    onward, back = v - (s == p - 1), v - (s == 0)
    return (onward + back) * m * A
