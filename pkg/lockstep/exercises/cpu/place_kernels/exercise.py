"""place_kernels: five kernels on a roofline, for sizes and devices that put each now left of the ridge, now right."""

import random
from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart, number_of
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.standard import equal
from lockstep.checks.transforms import changed_numbers
from lockstep.checks.values import told
from lockstep.exercises.cpu.arrays import one_case
from lockstep.exercises.cpu.roofs import attainable, device
from lockstep.machines import Device

KERNELS: dict[str, Callable[[int], tuple[int, int]]] = {  # n → (operations, bytes)
    "saxpy": lambda n: (2 * n, 12 * n),
    "dot": lambda n: (2 * n, 8 * n),
    "polynomial": lambda n: (18 * n, 8 * n),
    "matvec": lambda n: (2 * n**2, 4 * (n**2 + 2 * n)),
    "matmul": lambda n: (2 * n**3, 12 * n**2),
}
RIDGES = ((100, 0.15), (64, 0.2), (3000, 0.4), (48, 1.5), (1000, 6.0), (24, 30.0))


def inputs(case: Case, rank: int) -> tuple[tuple[int, Device], ...]:
    """On the last device memory and computing take equally long for the polynomial."""
    draw = random.Random(case.seed)
    drawn = [(n, device(1e11, 1e11 / (ridge * draw.uniform(0.97, 1.03)))) for n, ridge in RIDGES]
    return (*drawn, (512, device(9 * 2.0**35, 4 * 2.0**35)))


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    answer = fn(*arguments)
    return {str(name): plain(pair) for name, pair in answer.items()} if isinstance(answer, dict) else plain(answer)


def intensity(name: str, n: int) -> float:
    flops, nbytes = KERNELS[name](n)
    return flops / nbytes


def examine(seen: Seen) -> Fault | None:
    rows = list(zip(inputs(seen.case, 0), seen.returned[0], strict=True))
    for (n, _), answer in rows:
        if odd := misshapen(answer):
            return Fault("wrong-type", f"With n = {n:,}: {odd}")
    if not (name := wrong_kernel(seen)):
        return next((fault for (n, d), answer in rows if (fault := wrong_bound(n, d, answer))), None)
    n, given = next((n, a[name][0]) for (n, _), a in rows if not equal(a[name][0], intensity(name, n)))
    texts = apart(float(given), intensity(name, n))
    begin = f"With n = {n:,}: {name} has an intensity of {texts[0]} FLOP/byte; {texts[1]} is right."
    every = [(float(a[kernel][0]), intensity(kernel, n)) for kernel in KERNELS for (n, _), a in rows]
    change = changed_numbers([given for given, _ in every], [wanted for _, wanted in every])
    if not change:
        return Fault("wrong-values", begin)
    return Fault("rounded" if change[0] == "rounded" else "wrong-values", f"{begin} {change[1]}")


def misshapen(answer: Any) -> str:
    if not isinstance(answer, dict):
        return f"it returns {told(answer)}; a dict is wanted: name → (intensity, bound)."
    if answer.keys() != KERNELS.keys():
        return f"the dict's keys are {', '.join(answer)}, not {', '.join(KERNELS)}."
    odd = [n for n, p in answer.items() if not (isinstance(p, list) and len(p) == 2 and number_of(p[0]) is not None)]
    wanted = 'a pair is wanted: FLOP/byte, and "memory" or "compute".'
    return f"{odd[0]} has {told(answer[odd[0]])}; {wanted}" if odd else ""


def wrong_kernel(seen: Seen) -> str:
    """The first kernel with a wrong intensity; empty if none has."""
    rows = list(zip(inputs(seen.case, 0), seen.returned[0], strict=True))
    wrong = (name for name in KERNELS if not all(equal(a[name][0], intensity(name, n)) for (n, _), a in rows))
    return next(wrong, "")


def wrong_bound(n: int, d: Device, answer: Any) -> Fault | None:
    """Where both take equally long, either name is right."""
    ridge = d.peak("float32") / d.memory_bandwidth
    for name, count in KERNELS.items():
        given, bound = answer[name][1], attainable(*count(n), d)[1]
        if given != bound and not (equal(intensity(name, n), ridge) and given in ("memory", "compute")):
            told = f"With n = {n:,}: {name} has {intensity(name, n):.4g} FLOP/byte, and the device's ridge is at"
            side = "Left of the ridge the memory limits, right of it the computing."
            return Fault("wrong-bound", f"{told} {ridge:.4g}. You answer {given!r}; {bound!r} is right. {side}")
    return None


def alike(seen: Seen) -> list[Any]:
    """The first kernel that is wrong, and its intensities: each kernel has its own mistakes."""
    if any(map(misshapen, seen.returned[0])):
        return []
    name = wrong_kernel(seen)
    return [name, *(float(answer[name][0]) for answer in seen.returned[0] if name)]


EXERCISE = Exercise(
    number=6,
    core=False,
    title="Five kernels on the roofline",
    points=3,
    minutes=20,
    parameters="n, device",
    reference="lockstep.cpu.kernels:place_kernels",
    cases=one_case("five kernels, seven sizes and devices"),
    inputs=inputs,
    examine=examine,
    alike=alike,
    watch=watch,
    worlds=(1,),
    pure=True,
)
