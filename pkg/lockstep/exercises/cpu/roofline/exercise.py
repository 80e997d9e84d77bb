"""roofline: what a kernel can reach at most, left and right of the ridge, near it and far from it."""

import random
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Exercise, Feedback, Values
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import equal
from lockstep.exercises.cpu.arrays import one_case
from lockstep.exercises.cpu.roofs import attainable, device, ridge
from lockstep.machines import Device

ROOFS = ((1e11, 2e10), (2e13, 2e12), (3e9, 6e9))  # FLOP/s and bytes/s


def inputs(case: Case, rank: int) -> list[tuple[float, float, Device]]:
    """Also no operations at all, and no bytes at all: so few operations that one byte would be the limit."""
    draw = random.Random(case.seed)
    rows: list[tuple[float, float, Device]] = []
    for peak, bandwidth in ROOFS:
        here = device(peak * draw.uniform(0.9, 1.1), bandwidth * draw.uniform(0.9, 1.1))
        sizes = [(factor, draw.randint(1000, 10**6)) for factor in (0.01, 0.3, 0.9, 1.1, 3.0, 200.0)]
        rows += [(round(q * ridge(here) * factor * 64) / 64, q, here) for factor, q in sizes]
        rows += [(0.0, 4096, here), (1.0, 0, here)]
    return rows


def alike(seen: Seen) -> list[Any]:
    """The rates where there are operations and bytes, since a wrong formula often has a case of its own elsewhere; or,
    if these are right, what limits them."""
    rows = [(call, answer) for call, answer in zip(inputs(seen.case, 0), *seen.returned, strict=True) if all(call[:2])]
    right = all(equal(answer[0], attainable(*call)[0]) for call, answer in rows)
    return [answer[right] for _, answer in rows]


def steps(flops: float, nbytes: float, d: Device) -> str:
    roofs = f"{d.peak('float32'):.4g} FLOP/s and {d.memory_bandwidth:.4g} bytes/s"
    intensity = f" ({flops / nbytes:.4g} FLOP/byte)" if nbytes else ""
    return f"{flops:,.6g} operations, {nbytes:,} bytes{intensity}, on a device of {roofs} (ridge at {ridge(d):.4g})."


EXERCISE = Exercise(
    number=5,
    title="Roofline",
    core=False,
    points=2,
    minutes=15,
    parameters="flops, nbytes, device",
    reference="lockstep.cpu.roofline:roofline",
    cases=one_case("24 kernels on three devices"),
    inputs=inputs,
    worlds=(1,),
    pure=True,
    values=Values(wanted=lambda case: [attainable(*call) for call in inputs(case, 0)], share=1.0),
    comparison=Comparison(alike=alike),
    feedback=Feedback(
        answer='a pair, FLOP/s and "memory" or "compute",',
        steps=steps,
        hints=(("ZeroDivisionError", "nbytes may be 0: ask for that before you divide. Then computing is the limit."),),
    ),
)
