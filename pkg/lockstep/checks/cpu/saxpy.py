"""``saxpy``: one loop, in float32 from end to end, that the compiler can make into vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

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

POINTS = 2
SIZES = (39, 7, 1, 0, 64, 1027)  # the last one's machine code is looked at
Call = tuple[float, Array, Array]


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple((3.0, whole_numbers(case, 2 * i, n), whole_numbers(case, 2 * i + 1, n)) for i, n in enumerate(SIZES))


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    a, x, y = arguments
    how = compiled.compiled(fn)
    tried = trial_of_kernel(fn, a, x, y)
    if tried["problem"]:
        return {**how, "trial": tried, "code": {}}
    returned, problem = compiled.attempt(fn, a, x, y)
    seen = {
        "x": torch.from_numpy(x),
        "y": torch.from_numpy(y),
        "returns": returned is not None,
        "problem": problem,
        "trial": tried,
    }
    found = compiled.code(fn, a, x, y) if x.size == SIZES[-1] and not problem else {}
    return {**how, **seen, "code": found}


def _examine(seen: Seen) -> Fault | None:
    for (a, x, y), evidence in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        fault = unfit(f"With {counted(x.size, 'element')}: ", evidence["trial"])
        fault = fault or compiled.uncompilable(evidence["problem"]) or _wrong(a, x, y, evidence)
        if fault:
            return fault
    return None


def _wrong(a: float, x: Array, y: Array, evidence: dict[str, Any]) -> Fault | None:
    held, wanted = evidence["y"].numpy(), a * x + y
    begin = f"With {counted(x.size, 'element')} and a = {a:g}: "
    if not (evidence["x"].numpy() == x).all():
        return Fault("changes-x", f"{begin}x has changed. Only y is written.")
    if (held == wanted).all():
        return None
    for id, message, wrong in _known(a, x, y, evidence["returns"]):
        if (held == wrong).all():
            return Fault(id, begin + message)
    for k in (2, 3, 4, 5, 6, 7, 8, 16, 32, 64):
        whole = x.size // k * k
        if whole < x.size and (held[:whole] == wanted[:whole]).all() and (held[whole:] == y[whole:]).all():
            missing = x.size - whole
            return Fault("drops-rest", f"{begin}the last {missing} of y are as they were: {k} do not divide {x.size}.")
    at = int((held != wanted).nonzero()[0][0])
    return Fault("wrong-values", f"{begin}y[{at}] becomes {told(float(held[at]))}, not {wanted[at]:g}.")


def _known(a: float, x: Array, y: Array, returns: bool) -> Sequence[tuple[str, str, Array]]:
    returned = "What you return is not looked at: y is" if returns else "y is"
    return (
        ("not-in-place", f"y is as it was. {returned} to be changed itself: assign to its elements, y[i] = ...", y),
        ("forgets-y", "y becomes a·x: what was in y is lost. Add it.", a * x),
        ("forgets-a", "y becomes x + y: multiply x by a.", x + y),
        ("a-times-y", "a multiplies y; it belongs to x.", x + a * y),
    )


def _economise(seen: Seen) -> Iterator[Fault]:
    evidence = seen.returned[0][-1]
    faults = list(compiled.common_faults(evidence, evidence["code"]))
    yield from faults
    if faults:
        return
    found = evidence["code"]
    if found["bits"] == 64:
        yield Fault(
            "float64-arithmetic",
            "But the loop computes in float64, although x and y are float32: it converts every element there and back, "
            "and a register holds half as many. A Python float such as a is a float64, and so is 2.0: convert it once, "
            f"before the loop, by np.float32(...). Your innermost loop:\n{found['text']}",
        )
    elif found["lanes"] == 1:
        yield Fault(
            "scalar-code",
            "But the innermost loop computes one number at a time: the registers could hold several. Something in it "
            "keeps the compiler from using them: a step other than 1, an index that it cannot follow (for value in x "
            "walks with a step that it does not know: write range(x.size)), a branch, or an element that needs the one "
            f"before. Your innermost loop:\n{found['text']}",
        )


def _judge(observation: Observation) -> list[Finding]:
    return compiled.patient(mark(observation, POINTS, _examine, lambda seen: list(_economise(seen))), observation)


SAXPY = Exercise(
    id="cpu.saxpy",
    title="saxpy",
    points=POINTS,
    minutes=15,
    parameters="a, x, y",
    cases=one_case("six pairs of arrays"),
    inputs=_calls,
    judge=_judge,
    reference="lockstep.cpu.saxpy:saxpy",
    worlds=(1,),
    pure=True,
    watch=_watch,
    real=True,
    seconds=compiled.PATIENCE,
    picture=registers,
)
