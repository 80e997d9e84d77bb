"""saxpy: one loop, in float32 from end to end, that the compiler can make into vectors."""

from lockstep.checks.arrays import Arrays, Call, given_there
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule
from lockstep.checks.exercise import Feedback
from lockstep.exercises.cpu.arrays import one_case, quarters
from lockstep.exercises.cpu.kernels import LOOP, compiled, last_array, registers
from lockstep.exercises.cpu.observed_call import Kernel

CALLS = ((39, 2.75), (7, -0.5), (1, 3.0), (0, 1.25), (64, 0.0), (1027, -2.75))  # elements, a


def calls(case: Case) -> list[Call]:
    return [(a, *(quarters(case, 2 * i + j, n, most=1000) for j in (0, 1))) for i, (n, a) in enumerate(CALLS)]


RULES = (
    *LOOP,
    Rule("float64-arithmetic", lambda e: e["code"]["bits"] == 64,
         "But the loop computes in float64, although x and y are float32: it converts every element there and back, "
         "and a register holds half as many. A Python float such as a is a float64, and so is 2.0: convert it once, "
         "before the loop, by np.float32(...). Your innermost loop:\n{code[text]}"),
    Rule("scalar-code", lambda e: e["code"]["lanes"] == 1,
         "But the innermost loop computes one number at a time: the registers could hold several. A step other than 1 "
         "keeps the compiler from using them, and so does an index that it cannot follow (for value in x walks with a "
         "step that it does not know: write range(x.size)), a branch, or an element that needs the one before. Your "
         "innermost loop:\n{code[text]}"),
    Rule("returns-something", lambda e: e["returns"],
         "But it returns something, and you return nothing here: y has changed in place, and the caller has it. "
         "Leave the return out.", price=0.25),
)  # fmt: skip

EXERCISE = compiled(
    Kernel(("a", "x", "y"), last_array, read=CALLS[-1][0]),
    Arrays(calls, lambda a, x, y: (a * x.astype("float64") + y).astype("float32"),
           told="{1.size} elements and a = {0}", aside=given_there("a", "x", "y")),
    rules=RULES, number=1, title="saxpy", points=2, minutes=15, reference="lockstep.cpu.saxpy:saxpy",
    cases=one_case("six pairs of arrays"), feedback=Feedback(picture=registers),
)  # fmt: skip
