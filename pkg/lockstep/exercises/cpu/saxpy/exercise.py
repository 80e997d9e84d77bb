"""saxpy: one loop, in float32 from end to end, that the compiler can make into vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.transforms import changed_tensors
from lockstep.cpu.trial import Trial
from lockstep.exercises.cpu import kernels
from lockstep.exercises.cpu.arrays import one_case, quarters
from lockstep.exercises.cpu.kernels import Evidence, Kernel
from lockstep.exercises.cpu.pictures import registers

CALLS = ((39, 2.75), (7, -0.5), (1, 3.0), (0, 1.25), (64, 0.0), (1027, -2.75))  # elements, a
LAST = CALLS[-1][0]  # whose machine code is read


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    rows = enumerate(CALLS)
    return tuple((a, quarters(case, 2 * i, n, most=1000), quarters(case, 2 * i + 1, n, most=1000)) for i, (n, a) in rows)


def result(returned: Any, arguments: tuple[Any, ...]) -> Evidence:
    _, x, y = (torch.tensor(np.asarray(a)) for a in arguments)
    return {"x": x, "y": y, "returns": returned is not None}


def facts(trial: Trial) -> Evidence:
    return {"writes": trial.memory.uses("y", write=True).tolist(), "temporary": trial.memory.temporary}


def examine(seen: Seen) -> Fault | None:
    rows = list(zip(inputs(seen.case, 0), seen.returned[0], strict=True))
    return kernels.first([wrong(call, evidence) for call, evidence in rows])


def wrong(call: tuple[float, Any, Any], evidence: Evidence) -> Fault | None:
    a, x, y = call
    begin = f"With {x.size} elements and a = {a:g}: "
    if fault := kernels.unfit(begin, evidence):
        return fault
    held, wanted = evidence["result"]["y"], torch.from_numpy((a * x.astype("float64") + y).astype("float32"))
    if not torch.equal(evidence["result"]["x"], torch.from_numpy(x)):
        return Fault("changes-x", f"{begin}x has changed. Only y is written.")
    if torch.equal(held, wanted):
        return None
    if torch.equal(held, torch.from_numpy(y)):
        ignored = "What you return is not looked at. " if evidence["result"]["returns"] else ""
        return Fault("unchanged", f"{begin}y is as it was. {ignored}Assign to the elements of y: y[i] = ...")
    if left := kernels.skipped("y", np.array(evidence.get("writes", [])), "written"):
        return Fault("never-written", begin + left)
    at = int((held != wanted).nonzero()[0])
    begin += f"y[{at}] becomes {held[at]:g}, not {wanted[at]:g}."
    change = changed_tensors([held], [wanted], [torch.from_numpy(y)])
    return Fault(change[0], f"{begin} {change[1]}") if change else Fault("wrong-values", begin)


def economise(seen: Seen) -> Sequence[Fault]:
    evidence = seen.returned[0][-1]
    found = evidence["code"]
    faults = list(kernels.of_any_kernel(evidence, LAST))
    if faults or (found["bits"] == 32 and found["lanes"] > 1):
        return faults
    if found["bits"] == 64:
        told = (
            "But the loop computes in float64, although x and y are float32: it converts every element there and back, "
            "and a register holds half as many. A Python float such as a is a float64, and so is 2.0: convert it once, "
            "before the loop, by np.float32(...)."
        )
        return [Fault("float64-arithmetic", f"{told} Your innermost loop:\n{found['text']}")]
    told = (
        "But the innermost loop computes one number at a time: the registers could hold several. A step other than 1 "
        "keeps the compiler from using them, and so does an index that it cannot follow (for value in x walks with a "
        "step that it does not know: write range(x.size)), a branch, or an element that needs the one before."
    )
    return [Fault("scalar-code", f"{told} Your innermost loop:\n{found['text']}")]


KERNEL = Kernel(("a", "x", "y"), result, facts, read=LAST)

EXERCISE = Exercise(
    number=1,
    title="saxpy",
    core=False,
    points=2,
    minutes=15,
    parameters="a, x, y",
    reference="lockstep.cpu.saxpy:saxpy",
    cases=one_case("six pairs of arrays"),
    inputs=inputs,
    examine=examine,
    economise=economise,
    alike=kernels.alike,
    hints=kernels.HINTS,
    watch=KERNEL.watch,
    beside=KERNEL.beside,
    picture=registers,
    worlds=(1,),
    pure=True,
    real=True,
    seconds=kernels.PATIENCE,
)
