"""``dot``: accumulators that do not wait for each other, in vector registers. Judged by the machine code.

How many times as fast as one accumulator it is, is measured in the same process and shown; it costs no points."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.cpu import compiled
from lockstep.checks.cpu.arrays import Array, one_case, whole_numbers
from lockstep.checks.cpu.pictures import registers
from lockstep.checks.cpu.trial import trial_of_kernel, unfit
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told
from lockstep.checks.wording import counted

POINTS = 4
SIZES = (39, 0, 1, 3, 64, 2049)  # the last one's machine code is looked at
ACCUMULATORS = 4
LONG = 8192  # elements, so that calling the function takes little of the time
PRICES = {"scalar-code": 1.0, "few-accumulators": 1.0, "float64-arithmetic": 0.5}


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    """So large that two different sums hardly ever agree, and so small that float32 has them exactly (below 2**24)."""
    return tuple(
        (whole_numbers(case, 2 * i, n, most=60), whole_numbers(case, 2 * i + 1, n, most=60))
        for i, n in enumerate(SIZES)
    )


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    how = compiled.compiled(fn)
    tried = trial_of_kernel(fn, *arguments)
    if tried["problem"]:
        return {**how, "trial": tried, "code": {}, "ratio": 0.0}
    returned, problem = compiled.attempt(fn, *arguments)
    number = isinstance(returned, (int, float)) or getattr(returned, "shape", None) == ()
    seen = {"value": float(returned) if number else None, "problem": problem, "trial": tried}
    if arguments[0].size < SIZES[-1] or problem or not how["compiled"]:
        return {**how, **seen, "code": {}, "ratio": 0.0}
    return {**how, **seen, "code": compiled.code(fn, *arguments), "ratio": _ratio(fn, *arguments)}


def _ratio(fn: Callable[..., Any], x: Array, y: Array) -> float:
    """How many times as fast as the loop with one accumulator: the best of several, on this thread's clock."""
    import numpy as np

    from lockstep.cpu.naive import naive_dot

    x, y = np.resize(x, LONG), np.resize(y, LONG)
    naive_dot(x, y)
    return min(_time(naive_dot, x, y) for _ in range(5)) / max(1e-9, min(_time(fn, x, y) for _ in range(5)))


def _time(fn: Callable[..., Any], x: Array, y: Array) -> float:
    begin = time.thread_time()
    for _ in range(50):
        fn(x, y)
    return time.thread_time() - begin


def _examine(seen: Seen) -> Fault | None:
    """The first fault; but where no known mistake explains one of the sums, that one, since by chance a wrong sum is
    what another mistake would have given."""
    faults = []
    for (x, y), evidence in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        fault = unfit(f"With {counted(x.size, 'element')}: ", evidence["trial"])
        fault = fault or compiled.uncompilable(evidence["problem"]) or _wrong(x, y, evidence["value"])
        faults += [fault] if fault else []
    return next((f for f in faults if f.misconception == "wrong-values"), faults[0] if faults else None)


def _wrong(x: Array, y: Array, value: float | None) -> Fault | None:
    if value is None:
        return Fault("wrong-type", "It returns no number. The sum of x[i]·y[i] is wanted.")
    products = x * y
    if value == products.sum():
        return None
    begin = f"With {counted(x.size, 'element')} it returns {told(value)}, not {products.sum():g}. "
    for k in (2, 3, 4, 5, 6, 7, 8, 16, 32, 64):
        rest = products[x.size // k * k :]
        if rest.size and value == products[: x.size // k * k].sum():
            return Fault("drops-rest", f"{begin}The last {rest.size} elements are missing: {k} do not divide {x.size}.")
        if rest.size and value == products.sum() + rest.sum():
            return Fault("counts-twice", f"{begin}The last {rest.size} elements are counted twice.")
        if x.size >= 4 * k and value in _parts(products, k):
            return Fault("forgets-accumulators", f"{begin}This is one accumulator of {k}: add up all of them.")
    return Fault("wrong-values", f"{begin}Does each index occur exactly once?")


def _parts(products: Array, k: int) -> list[float]:
    """What one accumulator of ``k`` may hold: every k-th product, or one piece, with the rest or without it."""
    m = products.size // k
    pieces = [products[i * m : (i + 1) * m].sum() for i in range(k)]
    return [*pieces, *(p + products[k * m :].sum() for p in pieces), *(products[i::k].sum() for i in range(k))]


def _economise(seen: Seen) -> Iterator[Fault]:
    evidence = seen.returned[0][-1]
    found = evidence["code"]
    if found.get("allocates") and found.get("stores"):
        yield Fault(
            "accumulators-in-memory",
            "But your accumulators are elements of an array, so they lie in memory: each addition loads one, adds, and "
            "stores it again, and the vector registers stay empty. Give each a name of its own, as in "
            f"s0 = s1 = s2 = s3 = np.float32(0). Your innermost loop:\n{found['text']}",
        )
        return
    faults = list(compiled.common_faults(evidence, found))
    yield from faults
    if faults:
        return
    flaws = list(_flaws(evidence, found))
    shown = f"\nYour innermost loop:\n{found['text']}"
    yield from (replace(f, message=f.message + shown * (f is flaws[0])) for f in flaws)  # the same loop: shown once


def _flaws(evidence: dict[str, Any], found: dict[str, Any]) -> Iterator[Fault]:
    if found["bits"] == 64:
        yield Fault(
            "float64-arithmetic",
            "But the loop computes in float64: a sum that begins with 0.0 is a float64, and each product is converted. "
            "Begin with np.float32(0).",
        )
    if not found["chains"]:
        yield Fault(
            "few-accumulators",
            "But no sum stays in a register from one turn to the next: a list or an array of sums lies in memory. Give "
            "each sum a name of its own, as in s0 = s1 = s2 = s3 = np.float32(0).",
        )
    elif found["accumulators"] < ACCUMULATORS:
        yield Fault(
            "few-accumulators",
            f"But only {found['accumulators']:.3g} of your additions can be under way at once, not {ACCUMULATORS}: "
            "in each turn an addition waits for the one before, two to four cycles. Keep four sums that do not "
            "need each other, and add them up after the loop.",
        )
    if found["lanes"] == 1:
        yield Fault("scalar-code", _scalar(evidence["fastmath"]))


def _scalar(allowed: bool) -> str:
    begin = "But each addition handles one number (its name ends in ss or sd), where a register holds several. "
    if allowed:
        return (
            f"{begin}You have allowed the compiler to change the order; something in the loop keeps it from using "
            "vectors: zip, a list, a step other than 1, or a branch. Use an index that goes over the arrays."
        )
    return (
        f"{begin}The compiler must keep the order of your additions, unless you allow it to change it: "
        "@njit(fastmath=True)."
    )


def _judge(observation: Observation) -> list[Finding]:
    """Vectors and accumulators are worth a point each: a learner may have one of them."""
    found = compiled.patient(mark(observation, POINTS, _examine, lambda seen: list(_economise(seen))), observation)
    return [replace(f, points=PRICES.get(f.misconception, f.points)) for f in found]


DOT = Exercise(
    id="cpu.dot",
    title="Dot product with four accumulators",
    points=POINTS,
    minutes=30,
    parameters="x, y",
    cases=one_case("six pairs of arrays"),
    inputs=_calls,
    judge=_judge,
    reference="lockstep.cpu.dot:dot",
    worlds=(1,),
    pure=True,
    watch=_watch,
    real=True,
    seconds=compiled.PATIENCE,
    picture=registers,
)
