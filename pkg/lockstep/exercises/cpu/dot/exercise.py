"""dot: accumulators that do not wait for each other, in vector registers. How fast that is, is shown and costs nothing."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number_of
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.transforms import changed_numbers
from lockstep.checks.values import told
from lockstep.checks.wording import counted
from lockstep.cpu.naive import times_as_fast
from lockstep.cpu.trial import Trial
from lockstep.exercises.cpu import kernels
from lockstep.exercises.cpu.arrays import one_case, quarters
from lockstep.exercises.cpu.kernels import Evidence, Kernel
from lockstep.exercises.cpu.pictures import registers

SIZES = (39, 0, 1, 3, 64, 2049)  # the last one's machine code is read
ACCUMULATORS = 4
COST = 2.0  # points for lanes and accumulators


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """Quarters so small that float32 has the sum, below 2**24 sixteenths, in any order."""
    return tuple((quarters(case, 2 * i, n), quarters(case, 2 * i + 1, n)) for i, n in enumerate(SIZES))


def result(returned: Any, arguments: tuple[Any, ...]) -> Any:
    return plain(returned)


def facts(trial: Trial) -> Evidence:
    return {"reads": trial.memory.uses("x").tolist(), "temporary": trial.memory.temporary}


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
    found = KERNEL.watch(fn, arguments)
    return {**found, "ratio": times_as_fast(fn, *arguments)} if found["code"] else found


def examine(seen: Seen) -> Fault | None:
    rows = list(zip(inputs(seen.case, 0), seen.returned[0], strict=True))
    fault = kernels.first([wrong(x, y, evidence) for (x, y), evidence in rows])
    if fault is None or fault.misconception != "wrong-values":
        return fault
    values = [number_of(evidence["result"]) for _, evidence in rows]
    change = changed_numbers([v or 0.0 for v in values], [float((x * y).sum()) for (x, y), _ in rows])
    return Fault(change[0], f"{fault.message} {change[1]}") if change else fault


def wrong(x: Any, y: Any, evidence: Evidence) -> Fault | None:
    begin = f"With {counted(x.size, 'element')}"
    if fault := kernels.unfit(f"{begin}: ", evidence):
        return fault
    value, wanted = number_of(evidence["result"]), float((x * y).sum())
    if value is None:
        given = told(evidence["result"])
        return Fault("wrong-type", f"{begin} it returns {given}, which is no number. The sum of x[i]·y[i] is wanted.")
    if value == wanted:
        return None
    begin += f" it returns {value:g}, not {wanted:g}."
    uses = np.array(evidence.get("reads", []))
    if left := kernels.skipped("x", uses):
        return Fault("never-read", f"{begin} {left}")
    if twice := kernels.repeated("x", uses):
        return Fault("read-twice", f"{begin} {twice}")
    return Fault("wrong-values", begin)


def economise(seen: Seen) -> Sequence[Fault]:
    evidence = seen.returned[0][-1]
    found = evidence["code"]
    faults = list(kernels.of_any_kernel(evidence, SIZES[-1])) or list(flaws(evidence, found))
    if not faults or not faults[0].price:
        return faults
    texts = " ".join(f.message if n == 0 else f.message.replace("But", "And", 1) for n, f in enumerate(faults))
    price = min(COST, sum(f.price for f in faults))
    return [Fault(faults[0].misconception, f"{texts} Your innermost loop:\n{found['text']}", price)]


def flaws(evidence: Evidence, found: Evidence) -> Iterator[Fault]:
    if found["bits"] == 64:
        yield Fault(
            "float64-arithmetic",
            "But the loop computes in float64: a sum that begins with 0.0 is a float64, and each product is converted. "
            "Begin with np.float32(0).",
            0.5,
        )
    if found["accumulators"] >= ACCUMULATORS and found["lanes"] > 1:
        return
    if found["stores"]:
        yield Fault(
            "accumulators-in-memory",
            "But your sums lie in memory, as elements of an array or a list do: the loop loads one, adds, and stores it "
            "again. Give each sum a name of its own, as in s0 = s1 = s2 = s3 = np.float32(0).",
            COST,
        )
        return
    if not found["chains"]:
        yield Fault("few-accumulators", NO_SUM, 1.0)
    elif found["accumulators"] < ACCUMULATORS:
        yield Fault(
            "few-accumulators",
            f"But only {found['accumulators']:.3g} of your additions can be under way at once, not {ACCUMULATORS}: each "
            "waits for the one before, two to four cycles. Keep four sums that do not need each other, and add them up "
            "after the loop.",
            1.0,
        )
    if found["lanes"] == 1:
        yield Fault("scalar-code", SCALAR + (ALLOWED if evidence["fastmath"] else IN_ORDER), 1.0)


NO_SUM = (
    "But no sum stays in a register from one turn of the innermost loop to the next. Give each of four sums a name of "
    "its own, as in s0 = s1 = s2 = s3 = np.float32(0)."
)
SCALAR = "But each addition handles one number (its name ends in ss or sd), where a register holds several. "
ALLOWED = (
    "You have allowed the compiler to change the order; something in the loop keeps it from using vectors. zip, a list, "
    "a step other than 1 and a branch do: use an index that goes over the arrays."
)
IN_ORDER = (
    "The compiler must keep the order of your additions, unless you allow it to change it: @njit(fastmath=True)."
)
KERNEL = Kernel(("x", "y"), result, facts, read=SIZES[-1])

EXERCISE = Exercise(
    number=2,
    title="Dot product with four accumulators",
    points=4,
    minutes=30,
    parameters="x, y",
    reference="lockstep.cpu.dot:dot",
    cases=one_case("six pairs of arrays"),
    inputs=inputs,
    examine=examine,
    economise=economise,
    alike=kernels.alike,
    hints=kernels.HINTS,
    watch=watch,
    beside=KERNEL.beside,
    picture=registers,
    worlds=(1,),
    pure=True,
    real=True,
    seconds=kernels.PATIENCE,
)
