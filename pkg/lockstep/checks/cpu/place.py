"""``place_kernels``: five kernels on a roofline. What was counted wrongly is recognised by the intensity it gives."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.cpu.arrays import one_case
from lockstep.checks.cpu.roofline import attainable, device
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.machines import Device

POINTS = 3
Query = tuple[int, Device]
Numbers = Callable[[int], float]
FLOPS: dict[str, Numbers] = {
    "saxpy": lambda n: 2 * n,
    "dot": lambda n: 2 * n,
    "polynomial": lambda n: 18 * n,
    "matvec": lambda n: 2 * n**2,
    "matmul": lambda n: 2 * n**3,
}
BYTES: dict[str, Numbers] = {
    "saxpy": lambda n: 12 * n,
    "dot": lambda n: 8 * n,
    "polynomial": lambda n: 8 * n,
    "matvec": lambda n: 4 * (n**2 + 2 * n),
    "matmul": lambda n: 12 * n**2,
}
MISCOUNTS: Sequence[tuple[str, str, str, Numbers, Numbers]] = (
    ("saxpy", "forgets-store", "y is read and written: three numbers move for each element.", FLOPS["saxpy"],
     lambda n: 8 * n),
    ("matmul", "no-reuse", "You let every product fetch its two numbers. Each element of A and B is to be counted "
     "once: the cache keeps it.", FLOPS["matmul"], lambda n: 8 * n**3),
    ("matmul", "no-reuse", "You let every product fetch its numbers. Each element of A and B is to be counted once: "
     "the cache keeps it.", FLOPS["matmul"], lambda n: 8 * n**3 + 4 * n**2),
    ("matmul", "forgets-store", "C is written, too: three matrices move.", FLOPS["matmul"], lambda n: 8 * n**2),
    ("matmul", "wrong-operations", "n² elements of C, with n products and n sums each: 2n³ operations.",
     lambda n: 2 * n**2, BYTES["matmul"]),
    ("matmul", "wrong-operations", "A sum of n products counts as n products and n sums.",
     lambda n: n**2 * (2 * n - 1), BYTES["matmul"]),
    ("matvec", "wrong-operations", "A sum of n products counts as n products and n sums.",
     lambda n: n * (2 * n - 1), BYTES["matvec"]),
    ("dot", "wrong-operations", "A sum of n products counts as n products and n sums.",
     lambda n: 2 * n - 1, BYTES["dot"]),
    ("matvec", "forgets-matrix", "A has n² elements, and each is read.", FLOPS["matvec"], lambda n: 12 * n),
    ("matvec", "forgets-vectors", "x is read and y is written, too: for small n they matter.", FLOPS["matvec"],
     lambda n: 4 * n**2),
    ("polynomial", "wrong-operations", "Horner's rule takes a product and a sum for each of the 9 degrees.",
     lambda n: 9 * n, BYTES["polynomial"]),
    ("polynomial", "wrong-operations", "By Horner's rule the powers of x cost nothing: 9 products and 9 sums.",
     lambda n: (45 + 9) * n, BYTES["polynomial"]),
    ("polynomial", "forgets-store", "The values are written, too.", FLOPS["polynomial"], lambda n: 4 * n),
)  # fmt: skip


def _queries(case: Case) -> list[Query]:
    """Sizes and devices for which each kernel is now on one side of the ridge, now on the other."""
    draw = random.Random(case.seed)
    ridges = ((100, 0.15), (64, 0.2), (3000, 0.4), (48, 1.5), (1000, 6.0), (24, 30.0))
    return [(n, device(1e11, 1e11 / (ridge * draw.uniform(0.97, 1.03)))) for n, ridge in ridges]


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple(_queries(case))


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    answer = fn(*arguments)
    return {str(k): plain(v) for k, v in answer.items()} if isinstance(answer, dict) else plain(answer)


def right(n: int, device: Device) -> dict[str, tuple[float, str]]:
    """(intensity, bound) of each kernel."""
    pairs = {name: (FLOPS[name](n), BYTES[name](n)) for name in FLOPS}
    return {name: (w / q, attainable(w, q, device)[1]) for name, (w, q) in pairs.items()}


def _examine(seen: Seen) -> Fault | None:
    rows = list(zip(_queries(seen.case), seen.returned[0], strict=True))
    for (n, d), answer in rows:
        begin = f"With n = {n:,}: "
        if not isinstance(answer, dict):
            return Fault(
                "wrong-type", f"{begin}it returns {told(answer)}; a dict is wanted: name → (intensity, bound)."
            )
        if set(answer) != set(FLOPS):
            return Fault("wrong-type", f"{begin}the dict's keys are {', '.join(answer)}, not {', '.join(FLOPS)}.")
        for name, wanted in right(n, d).items():
            fault = _wrong(f"{begin}{name} ", answer[name], wanted, d)
            if fault:
                return _miscount(name, rows, fault)
    return None


def _wrong(begin: str, value: Any, wanted: tuple[float, str], d: Device) -> Fault | None:
    if not (isinstance(value, list) and len(value) == 2 and isinstance(value[0], (int, float))):
        return Fault("wrong-type", f'{begin}has {told(value)}; a pair is wanted: FLOP/byte, and "memory" or "compute".')
    if not math.isclose(value[0], wanted[0], rel_tol=1e-6):
        return Fault("wrong-values", f"{begin}has an intensity of {value[0]:.4g} FLOP/byte; {wanted[0]:.4g} is right. ")
    if value[1] != wanted[1]:
        ridge = d.peak("float32") / d.memory_bandwidth
        return Fault(
            "wrong-bound",
            f"{begin}has {wanted[0]:.4g} FLOP/byte, and the device's ridge is at {ridge:.4g}. You answer {value[1]!r}; "
            f"{wanted[1]!r} is right. Left of the ridge the memory limits.",
        )
    return None


def _miscount(name: str, rows: Sequence[tuple[Query, Any]], fault: Fault) -> Fault:
    """The same finding with its reason, if a known miscount gives all the answers."""
    if fault.misconception != "wrong-values":
        return fault
    given = {n: answer[name][0] for (n, _), answer in rows}
    for id, message, flops, nbytes in (*_everywhere(name), *(row[1:] for row in MISCOUNTS if row[0] == name)):
        if all(math.isclose(value, flops(n) / nbytes(n), rel_tol=1e-6) for n, value in given.items()):
            return Fault(id, fault.message + message)
    rounded = all(abs(given[n] - right(n, d)[name][0]) < 0.006 for (n, d), _ in rows)
    if rounded:
        return Fault("rounded", f"{fault.message}Yours look rounded: give the numbers as they are.")
    return Fault(
        fault.misconception,
        f"{fault.message}Count each element that is read, and each that is written, once. A product is one operation "
        "and a sum is one; a sum of n products counts as n products and n sums.",
    )


def _everywhere(name: str) -> Sequence[tuple[str, str, Numbers, Numbers]]:
    """Mistakes that are made with every kernel alike."""
    w, q = FLOPS[name], BYTES[name]
    return (
        ("half-intensity", "This is half of it. Either a number was taken to have 8 bytes (a float32 has 4), or a "
         "product with its sum to be one operation (they are two, although one instruction may do both).", w,
         lambda n: 2 * q(n)),
        ("elements-not-bytes", "It looks as if elements were counted: bytes are wanted, 4 each.", w,
         lambda n: q(n) / 4),
        ("intensity-inverted", "This is bytes per operation: turn it over.", q, w),
    )  # fmt: skip


def _judge(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _examine)


PLACE_KERNELS = Exercise(
    id="cpu.place_kernels",
    title="Five kernels on the roofline",
    points=POINTS,
    minutes=20,
    parameters="n, device",
    cases=one_case("five kernels, six sizes and devices"),
    inputs=_calls,
    judge=_judge,
    reference="lockstep.cpu.kernels:place_kernels",
    worlds=(1,),
    pure=True,
    watch=_watch,
)
