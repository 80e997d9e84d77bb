"""place_kernels: five kernels on a roofline, for sizes and devices that put each now left of the ridge, now right."""

import random
from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Exercise, Feedback, Run, Values
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.run_faults import equal
from lockstep.exercises.cpu.arrays import one_case
from lockstep.exercises.cpu.roofs import device, ridge
from lockstep.machines import Device

INTENSITIES: dict[str, Callable[[int], float]] = {
    "saxpy": lambda n: 2 / 12,
    "dot": lambda n: 2 / 8,
    "polynomial": lambda n: 18 / 8,
    "matvec": lambda n: 2 * n / (4 * (n + 2)),
    "matmul": lambda n: 2 * n / 12,
}
RIDGES = ((100, 0.15), (64, 0.2), (3000, 0.4), (48, 1.5), (1000, 6.0), (24, 30.0))  # n, ridge
Call = tuple[str, int, Device]


def inputs(case: Case, rank: int) -> list[Call]:
    """On the last device memory and computing take equally long for the polynomial."""
    draw = random.Random(case.seed)
    rows = [(n, device(1e11, 1e11 / (ridge * draw.uniform(0.97, 1.03)))) for n, ridge in RIDGES]
    return [(name, *row) for name in INTENSITIES for row in (*rows, (512, device(9 * 2.0**35, 4 * 2.0**35)))]


def watch(fn: Callable[..., Any], call: Call) -> Any:
    """What the dict has for the kernel; anything else as it is."""
    answer = fn(*call[1:])
    return plain(answer.get(call[0], f"keys: {', '.join(map(str, answer))}") if isinstance(answer, dict) else answer)


def right(name: str, n: int, d: Device) -> tuple[float, frozenset[str]]:
    """Where both take equally long, either name is."""
    beyond = INTENSITIES[name](n) / ridge(d)
    return INTENSITIES[name](n), frozenset(["memory"] * (beyond < 1 + 1e-9) + ["compute"] * (beyond > 1 - 1e-9))


def alike(seen: Seen) -> list[Any]:
    """The first kernel whose intensities are wrong, and these: each kernel has its own mistakes."""
    pairs = zip(inputs(seen.case, 0), *seen.returned, strict=True)
    rows = [(name, answer[0], INTENSITIES[name](n)) for (name, n, _), answer in pairs]
    wrong = next((name for name, given, want in rows if not equal(given, want)), "")
    return [wrong, *(given for name, given, _ in rows if name == wrong)]


EXERCISE = Exercise(
    number=6,
    core=False,
    title="Five kernels on the roofline",
    points=3,
    minutes=20,
    parameters="n, device",
    reference="lockstep.cpu.roofline_points:place_kernels",
    cases=one_case("five kernels, seven sizes and devices"),
    inputs=inputs,
    worlds=(1,),
    pure=True,
    values=Values(wanted=lambda case: [right(*call) for call in inputs(case, 0)], share=1.0, partial_credit=True),
    comparison=Comparison(alike=alike),
    run=Run(watch=watch),
    feedback=Feedback(
        answer='a dict with a pair for each of the five names, (FLOP/byte, "memory" or "compute"),',
        steps=lambda name, n, d: (
            f"this is {name} with n = {n:,}, on a device whose ridge is at {ridge(d):.4g} FLOP/byte."
        ),
    ),
)
