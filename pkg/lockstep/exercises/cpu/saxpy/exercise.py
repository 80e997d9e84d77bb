"""saxpy: one loop, in float32 from end to end, that the compiler can make into vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.cpu.observed import Evidence, Kernel
from lockstep.exercises.cpu.arrays import one_case, quarters
from lockstep.exercises.cpu.kernels import Values, compiled_exercise, of_any_loop
from lockstep.exercises.cpu.pictures import registers

CALLS = ((39, 2.75), (7, -0.5), (1, 3.0), (0, 1.25), (64, 0.0), (1027, -2.75))  # elements, a
LAST = CALLS[-1][0]  # whose machine code is read


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    xy = [[quarters(case, 2 * i + j, n, most=1000) for j in (0, 1)] for i, (n, _) in enumerate(CALLS)]
    return tuple((a, x, y) for (_, a), (x, y) in zip(CALLS, xy, strict=True))


def result(returned: Any, arguments: tuple[Any, ...]) -> Evidence:
    _, x, y = (torch.tensor(np.asarray(a)) for a in arguments)
    return {"x": x, "y": y, "returns": returned is not None}


def own(call: tuple[Any, ...], evidence: Evidence) -> Fault | None:
    (a, x, y), held = call, evidence["result"]
    if not torch.equal(held["x"], torch.from_numpy(x)):
        return Fault("changes-x", "x has changed. Only y is written.")
    if (a and x.any()) and torch.equal(held["y"], torch.from_numpy(y)):
        ignored = "What you return is not looked at. " if held["returns"] else ""
        return Fault("unchanged", f"y is as it was. {ignored}Assign to the elements of y: y[i] = ...")
    return None


def economise(seen: Seen) -> Sequence[Fault]:
    evidence = seen.returned[0][-1]
    found = evidence["code"]
    faults = list(of_any_loop(evidence, LAST))
    if not faults and found["bits"] == 64:
        return [Fault("float64-arithmetic", f"{DOUBLE} Your innermost loop:\n{found['text']}")]
    if not faults and found["lanes"] == 1:
        return [Fault("scalar-code", f"{SCALAR} Your innermost loop:\n{found['text']}")]
    return faults


DOUBLE = (
    "But the loop computes in float64, although x and y are float32: it converts every element there and back, and a "
    "register holds half as many. A Python float such as a is a float64, and so is 2.0: convert it once, before the "
    "loop, by np.float32(...)."
)
SCALAR = (
    "But the innermost loop computes one number at a time: the registers could hold several. A step other than 1 keeps "
    "the compiler from using them, and so does an index that it cannot follow (for value in x walks with a step that "
    "it does not know: write range(x.size)), a branch, or an element that needs the one before."
)

EXERCISE = compiled_exercise(
    Kernel(("a", "x", "y"), result, read=LAST),
    Values(
        begin=lambda a, x, y: f"With {x.size} elements and a = {a:g}",
        wanted=lambda a, x, y: (a * x.astype("float64") + y).astype("float32"),
        before=lambda a, x, y: y,
        held=lambda result: result["y"],
        asked="y, an array",
        writes=("y",),
        own=own,
    ),
    number=1,
    title="saxpy",
    points=2,
    minutes=15,
    parameters="a, x, y",
    reference="lockstep.cpu.saxpy:saxpy",
    cases=one_case("six pairs of arrays"),
    inputs=inputs,
    economise=economise,
    picture=registers,
)
