"""dot: four sums that do not wait for each other, also where the compiler keeps their order; and vectors of them."""

from collections.abc import Callable
from typing import Any

from lockstep.checks.arrays import Arrays, Call
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence, Rule, first
from lockstep.checks.exercise import Costs, Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.cpu.arrays import one_case, quarters
from lockstep.exercises.cpu.kernels import LOOP, compiled, ones_there, registers, returned
from lockstep.exercises.cpu.observed_call import Kernel, code

SIZES = (39, 0, 1, 3, 64, 2049)  # the last one's machine code is read


def calls(case: Case) -> list[Call]:
    """Quarters so small that float32 has the sum, below 2**24 sixteenths, in any order; where they are few, bfloat16
    cannot hold them."""
    most = [127 if n <= 64 else 15 for n in SIZES]
    return [
        (quarters(case, 2 * i, n, most=m), quarters(case, 2 * i + 1, n, most=m))
        for i, (n, m) in enumerate(zip(SIZES, most, strict=True))
    ]


def measure(fn: Callable[..., Any], *arguments: Any) -> Evidence:
    from lockstep.experiments.cpu.naive import times_as_fast  # numba takes a moment, and a list of exercises needs none

    both = {"code": code(fn, *arguments), "strict": code(fn, *arguments, strict=True)}
    return {**both, "ratio": times_as_fast(fn, *arguments)}


PRODUCTS = Rule("array-of-products", lambda e: e.get("products"),
    "But it makes an array of products: an expression such as a * b on whole arrays or slices does. Multiply and add "
    "element by element, also what is left over.")  # fmt: skip


def few(evidence: Evidence) -> bool:
    return bool(evidence["strict"]["accumulators"] < 4)


NAMES = "Let each turn of one loop add to four sums with names of their own, s0, s1, s2 and s3; add them up at the end."
FLAWS = (
    Rule("float64-arithmetic", lambda e: e["code"]["bits"] == 64,
         "the loop computes in float64: a sum that begins with 0.0 is a float64, and each product is converted. Begin "
         "with np.float32(0).", price=0.5),
    Rule("float64-arithmetic", lambda e: e["code"]["bits"] < 64 and 64 in e["code"]["widths"],
         "beside the loop you add in float64: a sum that begins with 0.0 is a float64. Begin with np.float32(0), also "
         "the sum of what is left over and the sum of your sums.", price=0.5),
    Rule("accumulators-in-memory", lambda e: few(e) and e["strict"]["stores"],
         "your sums lie in memory, as elements of an array or a list do: the loop loads one, adds, and stores it "
         f"again. {NAMES}", price=2.0),
    Rule("few-accumulators", lambda e: few(e) and not e["strict"]["stores"],
         "without fastmath only {strict[accumulators]:.3g} of your additions can be under way at once, not 4: each "
         f"waits for the one before, two to four cycles. {NAMES}", price=2.0),
    Rule("scalar-code", lambda e: e["code"]["lanes"] == 1 and e["code"]["stores"],
         "each addition handles one number (its name ends in ss or sd), where a register holds several; and your loop "
         "stores, as it does with sums that are elements of an array or a list. Give each sum a name of its own, and "
         "let @njit(fastmath=True) change the order of your additions.", price=1.0),
    Rule("scalar-code", lambda e: e["code"]["lanes"] == 1 and not e["code"]["stores"],
         "each addition handles one number (its name ends in ss or sd), where a register holds several. Without "
         "@njit(fastmath=True) the compiler must keep the order of your additions. If you have allowed it to change "
         "that, zip, a list, a step other than 1 or a branch keeps it from using vectors.", price=1.0),
)  # fmt: skip


def economise(seen: Seen) -> list[Fault]:
    evidence = seen.returned[0][-1]
    if fault := first((*LOOP, PRODUCTS), evidence):
        return [fault]
    flaws = [flaw for rule in FLAWS if (flaw := rule.of(evidence))]
    which, loop = ("loop without fastmath", evidence["strict"]) if few(evidence) else ("loop", evidence["code"])
    told = f"But {' And '.join(flaw.message for flaw in flaws)} Your innermost {which}:\n{loop['text']}"
    return [Fault(flaw.misconception, told, price=sum(f.price for f in flaws)) for flaw in flaws[:1]]


EXERCISE = compiled(
    Kernel(("x", "y"), returned, read=SIZES[-1], measure=measure),
    Arrays(
        calls,
        lambda x, y: float((x * y).sum()),
        asked="the sum, a number,",
        told="arrays of length {0.size}",
        aside=ones_there(lambda x, y: int(x.size)),
    ),
    number=2,
    title="Dot product with four accumulators",
    points=4,
    minutes=30,
    reference="lockstep.cpu.dot:dot",
    cases=one_case("six pairs of arrays"),
    values=Values(share=0.25),
    costs=Costs(economise=economise),
    feedback=Feedback(picture=registers),
)
