"""dot: accumulators that do not wait for each other, in vector registers. How fast that is costs nothing."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.wording import counted
from lockstep.cpu.observed import Evidence, Kernel
from lockstep.exercises.cpu.arrays import one_case, quarters
from lockstep.exercises.cpu.kernels import Values, compiled_exercise, of_any_loop, watch
from lockstep.exercises.cpu.pictures import registers

SIZES = (39, 0, 1, 3, 64, 2049)  # the last one's machine code is read
ACCUMULATORS = 4
COST = 2.0  # points for lanes and accumulators


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """Quarters so small that float32 has the sum, below 2**24 sixteenths, in any order."""
    return tuple((quarters(case, 2 * i, n), quarters(case, 2 * i + 1, n)) for i, n in enumerate(SIZES))


def timed(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
    from lockstep.cpu.naive import times_as_fast  # numba takes a moment, and a list of exercises needs none

    found = watch(KERNEL, fn, arguments)
    return {**found, "ratio": times_as_fast(fn, *arguments)} if found["code"] else found


def economise(seen: Seen) -> Sequence[Fault]:
    evidence = seen.returned[0][-1]
    faults = list(of_any_loop(evidence, SIZES[-1]))
    flaws = [] if faults else list(of_loop(evidence["fastmath"], evidence["code"]))
    if not flaws:
        return faults
    texts = " ".join(["But", " And ".join(flaw.message for flaw in flaws), "Your innermost loop:"])
    price = min(COST, sum(flaw.price for flaw in flaws))
    return [Fault(flaws[0].misconception, f"{texts}\n{evidence['code']['text']}", price=price)]


def of_loop(allowed: bool, found: Evidence) -> Iterator[Fault]:
    """``allowed``: whether the compiler may change the order of the additions."""
    few = found["accumulators"] < ACCUMULATORS
    if found["bits"] == 64:
        yield Fault("float64-arithmetic", DOUBLE, price=0.5)
    if (few or found["lanes"] == 1) and found["stores"]:
        yield Fault("accumulators-in-memory", IN_MEMORY, price=COST)
        return
    if few:
        told = FEW.format(found["accumulators"], ACCUMULATORS) if found["chains"] else NO_SUM
        yield Fault("few-accumulators", told, price=1.0)
    if found["lanes"] == 1:
        yield Fault("scalar-code", SCALAR + (ALLOWED if allowed else IN_ORDER), price=1.0)


DOUBLE = (
    "the loop computes in float64: a sum that begins with 0.0 is a float64, and each product is converted. Begin with "
    "np.float32(0)."
)
NAMES = "Give each of four sums a name of its own, as in s0 = s1 = s2 = s3 = np.float32(0)."
IN_MEMORY = (
    "your sums lie in memory, as elements of an array or a list do: the loop loads one, adds, and stores it again. "
    f"{NAMES}"
)
NO_SUM = f"no sum stays in a register from one turn of the innermost loop to the next. {NAMES}"
FEW = (
    "only {:.3g} of your additions can be under way at once, not {}: each waits for the one before, two to four "
    "cycles. Keep four sums that do not need each other, and add them up after the loop."
)
SCALAR = "each addition handles one number (its name ends in ss or sd), where a register holds several. "
ALLOWED = (
    "You have allowed the compiler to change the order; something in the loop keeps it from using vectors. zip, a "
    "list, a step other than 1 and a branch do: use an index that goes over the arrays."
)
IN_ORDER = "The compiler must keep the order of your additions, unless you allow it to change it: @njit(fastmath=True)."
KERNEL = Kernel(("x", "y"), lambda returned, arguments: plain(returned), read=SIZES[-1])

EXERCISE = compiled_exercise(
    KERNEL,
    Values(
        begin=lambda x, y: f"With {counted(x.size, 'element')}",
        wanted=lambda x, y: float((x * y).sum()),
        asked="the sum of x[i]·y[i], a number,",
        reads=("x", "y"),
    ),
    number=2,
    title="Dot product with four accumulators",
    points=4,
    minutes=30,
    parameters="x, y",
    reference="lockstep.cpu.dot:dot",
    cases=one_case("six pairs of arrays"),
    inputs=inputs,
    economise=economise,
    watch=timed,
    picture=registers,
)
