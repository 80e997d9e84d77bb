"""``roofline``: what a kernel can reach at most. A wrong formula is recognised by what it would answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.cpu.arrays import one_case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.values import told
from lockstep.machines import Device

POINTS = 2
Query = tuple[float, float, Device]
Answer = tuple[float, str]


def device(peak: float, bandwidth: float) -> Device:
    """A device that is nothing but its two roofs, float64 at half the rate."""
    rates = {"float32": peak, "float64": peak / 2}
    return Device("a device", rates, bandwidth, 16 * 10**9, 0.0, "Drawn for this exercise.")


def _queries(case: Case) -> list[Query]:
    """Left and right of the ridge, near and far; no operations at all; no bytes at all."""
    draw = random.Random(case.seed)
    rows: list[Query] = []
    for peak, bandwidth in ((1e11, 2e10), (2e13, 2e12), (3e9, 6e9)):
        here = device(peak * draw.uniform(0.9, 1.1), bandwidth * draw.uniform(0.9, 1.1))
        ridge = here.peak("float32") / here.memory_bandwidth
        for factor in (0.01, 0.3, 0.9, 1.1, 3.0, 200.0):
            nbytes = draw.randint(1000, 10**6)
            rows.append((round(nbytes * ridge * factor * 64) / 64, nbytes, here))
        rows += [(0.0, 4096, here), (1000.0, 0, here)]
    return rows


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple(_queries(case))


def attainable(flops: float, nbytes: float, device: Device) -> Answer:
    slanted = flops / nbytes * device.memory_bandwidth if nbytes else math.inf
    return (slanted, "memory") if slanted < device.peak("float32") else (device.peak("float32"), "compute")


def _seconds(w: float, q: float, d: Device) -> Answer:
    times = w / d.peak("float32"), q / d.memory_bandwidth
    return max(times), "memory" if times[1] > times[0] else "compute"


def _changed(rate: Callable[[float, float, Device], float]) -> Callable[[float, float, Device], Answer]:
    """The right bound with another rate."""
    return lambda w, q, d: (rate(w, q, d), attainable(w, q, d)[1])


def _slanted(w: float, q: float, d: Device) -> float:
    return w / q * d.memory_bandwidth if q else math.inf


def _summed(w: float, q: float, d: Device) -> float:
    seconds = w / d.peak("float32") + q / d.memory_bandwidth
    return w / seconds if seconds else 0.0


WRONG: Sequence[tuple[str, str, Callable[[float, float, Device], Answer]]] = (
    ("bounds-exchanged", "The rates are right, and the names are exchanged: left of the ridge it is the memory that "
     "limits.", lambda w, q, d: (attainable(w, q, d)[0], {"memory": "compute", "compute": "memory"}[
         attainable(w, q, d)[1]])),
    ("seconds", "These are seconds: what the kernel takes. FLOP/s are wanted: what it can reach.", _seconds),
    ("takes-maximum", "You take the higher of the two roofs; nobody can be faster than the lower one.",
     _changed(lambda w, q, d: max(_slanted(w, q, d), d.peak("float32")))),
    ("adds-times", "You add the time of computing to the time of moving. They overlap: the longer one decides.",
     _changed(_summed)),
    ("always-peak", "You always answer the peak: where few operations come with many bytes, memory is the limit.",
     _changed(lambda w, q, d: d.peak("float32"))),
    ("never-peak", "Your slope goes on for ever: the peak is a roof, too.", _changed(_slanted)),
    ("intensity-inverted", "It looks as if the intensity were bytes per operation: it is operations per byte.",
     _changed(lambda w, q, d: min(d.peak("float32"), q / w * d.memory_bandwidth if w else math.inf))),
    ("bits-not-bytes", "It looks as if the bandwidth were in bits: it is bytes a second.",
     _changed(lambda w, q, d: min(d.peak("float32"), 8 * _slanted(w, q, d)))),
    ("float64-peak", "You take the peak of float64; float32 is wanted.",
     _changed(lambda w, q, d: min(d.peak("float64"), _slanted(w, q, d)))),
)  # fmt: skip


def _examine(seen: Seen) -> Fault | None:
    queries, answers = _queries(seen.case), seen.returned[0]
    wrong = [(q, a) for q, a in zip(queries, answers, strict=True) if not same(a, attainable(*q))]
    if not wrong:
        return None
    (flops, nbytes, d), answer = wrong[0]
    rate, bound = attainable(flops, nbytes, d)
    begin = (
        f"{flops:,.6g} operations and {nbytes:,.6g} bytes, on a device with a peak of {d.peak('float32'):.4g} FLOP/s "
        f"and {d.memory_bandwidth:.4g} bytes/s: you answer {_told(answer)}, not ({rate:.6g}, {bound!r}). "
    )
    if not (isinstance(answer, list) and len(answer) == 2 and isinstance(answer[1], str)):
        return Fault("wrong-type", f'{begin}A pair is wanted: FLOP/s, and "memory" or "compute".')
    for id, message, formula in WRONG:
        if all(same(a, formula(*q), bound=id == "bounds-exchanged") for q, a in _telling(queries, answers)):
            return Fault(id, begin + message)
    if all(same(a, attainable(*q), bound=False) for q, a in zip(queries, answers, strict=True)):
        return Fault("wrong-bound", f"{begin}All your rates are right; the names of what limits them are not.")
    return Fault("wrong-values", f"{begin}Which of the two roofs is the lower one there?")


def _telling(queries: Sequence[Query], answers: Sequence[Any]) -> list[tuple[Query, Any]]:
    """Without the extreme queries, at which a wrong formula often has a case of its own."""
    return [(q, a) for q, a in zip(queries, answers, strict=True) if q[0] and q[1]]


def same(answer: Any, wanted: Answer, bound: bool = True) -> bool:
    if not (isinstance(answer, list) and len(answer) == 2 and isinstance(answer[0], (int, float))):
        return False
    near = math.isclose(answer[0], wanted[0], rel_tol=1e-6)
    return near and (answer[1] == wanted[1] or not bound)


def _told(answer: Any) -> str:
    if isinstance(answer, list) and len(answer) == 2 and isinstance(answer[0], (int, float)):
        return f"({answer[0]:.6g}, {answer[1]!r})"
    return told(answer)


def _divides_by_zero(failure: Failure | None) -> bool:
    return failure is not None and failure.exception == "ZeroDivisionError"


def _judge(observation: Observation) -> list[Finding]:
    advice = "\nnbytes may be 0: a kernel that moves nothing is limited by computing. Ask for that before you divide."
    return [
        replace(f, message=f.message + advice) if _divides_by_zero(observation.failure_with(f.case)) else f
        for f in mark(observation, POINTS, _examine)
    ]


ROOFLINE = Exercise(
    id="cpu.roofline",
    title="Roofline",
    points=POINTS,
    minutes=15,
    parameters="flops, nbytes, device",
    cases=one_case("24 kernels on three devices"),
    inputs=_calls,
    judge=_judge,
    reference="lockstep.cpu.roofline:roofline",
    worlds=(1,),
    pure=True,
)
