"""What a rank of a pipeline holds and sends, in bytes: for a model of equal layers, as an MLP of one width with ReLU.

    p, m, s   stages, micro-batches, a stage from 0
    L         layers of a stage
    A         bytes of what one layer puts out for one micro-batch: examples x width x size of a number
    P         bytes of a stage's parameters
    n         micro-batches in flight at once, ``bubble.activations_in_flight``: m with GPipe, min(m, p-s) with 1F1B
    w         versions of weights, ``bubble.weight_versions``

    parameters        w·P
    gradients         P, and A for each gradient of an input that is made or on its way: up to 2 (not on stage 0)
    optimizer state   P with momentum
    activations       (n·(L+1) + 1)·A: in flight, each micro-batch's input and the output of each layer; and what ReLU,
                      or the loss, is given while it is at work
                      stage 0 has the inputs of all m from the beginning, not of n; the last one all targets, m·A more
                      re-materialised: (m + L + 1)·A, inputs and the layers of one micro-batch

    sent              m·A to the next stage, m·A to the one before; with v chunks v times that, round the ends, too

``pipeline.worker`` is measured to hold exactly that, to the byte but for the losses, a few numbers. GPipe's paper says
it as O(N + L/K · N/M) with re-materialisation (arXiv:1811.06965, section 2.3): its N is m·A, and its L are the layers
of all K stages.
"""

from __future__ import annotations

from typing import NamedTuple

from lockstep.cost.bubble import activations_in_flight, check, weight_versions
from lockstep.errors import UsageError

MEASURED = ("naive", "gpipe", "gpipe, re-materialised", "one_f_one_b", "pipedream")


class Resident(NamedTuple):
    """Bytes of each kind when there are most of it."""

    parameters: int
    gradients: int
    optimizer_state: int
    activations: int


def resident(schedule: str, s: int, p: int, m: int, L: int, A: int, P: int) -> Resident:
    """The peaks of stage ``s``, each kind by itself, with momentum. Raises UsageError for schedules not in MEASURED."""
    check(p, m)
    if schedule not in MEASURED or not 0 <= s < p:
        raise UsageError(f"There is no formula for stage {s} of {schedule!r}.", f"Known: {', '.join(MEASURED)}.")
    n = activations_in_flight(schedule, s, p, m)
    held = m + L if "re-mat" in schedule else n * L + (m if s == 0 else n)
    if schedule == "naive" and s == 0 < p - 1 and m > 1:
        held += 1  # the output before is still under way: nothing was posted since
    targets = m if s == p - 1 else 0
    under_way = gradients_under_way(schedule, s, p, m)
    return Resident(weight_versions(schedule, s, p, m) * P, P + under_way * A, P, (held + 1 + targets) * A)


def gradients_under_way(schedule: str, s: int, p: int, m: int) -> int:
    """Of inputs: one that a backward pass makes; one that is still being sent, if no message was posted since."""
    if s == 0:
        return 0
    last = s == p - 1
    two = {"naive": last, "gpipe": True, "gpipe, re-materialised": last, "one_f_one_b": True, "pipedream": False}
    return 2 if two[schedule] and m > 1 else 1


def sent_bytes(s: int, p: int, m: int, A: int, v: int = 1) -> int:
    """What stage ``s`` sends in a step: activations onward, gradients back. One stage alone sends nothing."""
    check(p, m, v)
    if p == 1:
        return 0
    onward, back = v - (s == p - 1), v - (s == 0)
    return (onward + back) * m * A
