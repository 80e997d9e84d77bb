"""What the four compiled exercises have in common: how they are run and judged, and the rules for any compiled
function."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import torch

from lockstep.checks.arrays import Arrays, Call, with_ones
from lockstep.checks.evidence_rules import UNGRADED, Evidence, Rule, first
from lockstep.checks.exercise import Exercise, Run
from lockstep.checks.guard import refuse_borrowed
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number_of
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.wording import LONGER
from lockstep.exercises.cpu.observed_call import Kernel
from lockstep.show.registers import draw_registers

Chosen = Callable[[Sequence[Evidence]], Sequence[Evidence]]

PATIENCE = 35.0  # seconds for a check: right answers have taken ten of a busy machine to compile
LATE = (
    "If all of them end, it may be the compiling: expressions on whole rows or blocks compile slowly. Write loops over "
    "elements, or run the check again when less is going on."
)

FLOAT_INDEX = r"[gs]etitem\(array\(.*\), float64"  # as numba says it

UNFIT = (
    Rule("endless", lambda e: e["problem"] == "endless",
         "run in Python, it had not ended after {told}. Either a loop never ends, or " + LONGER + "\n{where}"),
    Rule("library-call", lambda e: e["problem"] == "library-call",
         "{told} Write the loops yourself: that is the exercise.\n{where}"),
    Rule("out-of-bounds", lambda e: e["problem"] == "out-of-bounds",
         "{told}. Compiled code does not look: it reads or overwrites whatever lies there. Does the index run too far, "
         "or is the array too small?\n{where}"),
    Rule("does-not-compile", lambda e: e["uncompilable"] and e["uncompilable"]["plain"],
         "numba cannot compile your function. {uncompilable[plain][0]}, which it calls, is not compiled: write @njit "
         "above that one's def, too.\n{uncompilable[told]}"),
    Rule("does-not-compile", lambda e: e["uncompilable"] and e["uncompilable"]["declared"],
         "numba cannot compile your function. You have named types in @njit(...), and the arrays have others. Leave "
         "them out; or say float32[::1], an array without gaps, where float32[:] may have some.\n{uncompilable[told]}"),
    Rule("does-not-compile", lambda e: e["uncompilable"] and re.search(FLOAT_INDEX, e["uncompilable"]["told"]),
         "numba cannot compile your function: an index is a float. / makes one: write //. So do min and max of the "
         "index of a prange and another number: write int(min(...)).\n{uncompilable[told]}"),
    Rule("does-not-compile", lambda e: e["uncompilable"], "numba cannot compile your function.\n{uncompilable[told]}"),
    Rule("reads-empty", lambda e: e.get("empty"),
         "where the array that np.empty gives holds nan, so does your result. np.empty leaves in an array whatever lay "
         "there before: write each element before you add to it, or take np.zeros."),
)  # fmt: skip

COMPILED = (
    Rule(UNGRADED, lambda e: e["disabled"] and not e["compiled"],
         "numba compiles nothing here: NUMBA_DISABLE_JIT is set. Unset that variable and restart the kernel."),
    Rule("not-compiled", lambda e: not e["compiled"],
         "But it is interpreted, not compiled: Python looks up the types at every step. Write @njit in the line above "
         "your def, with the options that the exercise asks for."),
)  # fmt: skip

LOOP = (
    *COMPILED,
    Rule(UNGRADED, lambda e: not e["code"]["readable"],
         "This machine's code is neither x86-64 nor aarch64: the check cannot read it."),
    Rule("library-call", lambda e: e["code"]["blas"],
         "But the work is done by a library that you call: write the loop yourself."),
    Rule("threads", lambda e: e["parallel"],
         "But parallel=True divides the work among threads. This exercise is about one core: take parallel=True away, "
         "and write range."),
    Rule("temporary-array", lambda e: e["code"]["allocates"] and e.get("temporary", np.inf) >= len(e["arrays"][-1]),
         "But it makes another array as long as x: an expression such as x * y on whole arrays does, and it is written "
         "and read once more. Write one loop over the elements."),
    Rule("no-loop", lambda e: "lanes" not in e["code"],
         "But no loop of your machine code computes with floating-point numbers: who does it?"),
)  # fmt: skip


LAST: Chosen = itemgetter(slice(-1, None))


def compiled(
    kernel: Kernel, judge: Arrays, *, rules: Sequence[Rule] = (), judged_calls: Chosen = LAST, **fields: Any
) -> Exercise:
    """An exercise whose answers numba compiles. ``rules`` say what the code must be like, from the evidence that
    ``judged_calls`` chooses from all calls'."""

    def economise(seen: Seen) -> list[Fault]:
        found = first(rules, *judged_calls(seen.returned[0]))
        return [found] if found else []

    own = partial(watch, kernel)
    run = Run(watch=own, watch_known=kernel.in_python, compare_arguments=False, real_machine=True, timeout=PATIENCE)
    judge = replace(judge, rules=(*UNFIT, *judge.rules), remark=remark)
    exercise = judge.exercise(parameters=", ".join(kernel.names), run=run, **fields)
    return replace(
        exercise,
        costs=replace(exercise.costs, economise=exercise.costs.economise or economise),
        comparison=replace(exercise.comparison, alike=alike),
        feedback=replace(exercise.feedback, hints=(("crashed:TimeLimit", LATE), ("crashed:Stuck", LATE))),
    )


def watch(kernel: Kernel, fn: Callable[..., Any], arguments: Call) -> Evidence:
    refuse_borrowed(fn)
    return {"names": list(kernel.names), **kernel.observe(fn, arguments)}


def alike(seen: Seen) -> list[Any]:
    """Whether it returns something that nobody asked for makes no other mistake of it."""
    python = [evidence["python"] for evidence in seen.returned[0]]
    return [one and {name: value for name, value in one.items() if name != "returns"} for one in python]


def returned(value: Any, arguments: Call) -> Evidence:
    """The result is what the function returns."""
    kept = isinstance(value, np.ndarray) and value.dtype.kind in "fi"
    return {"name": "the result", "result": torch.tensor(value) if kept else plain(value), "arrays": arrays(arguments)}


def last_array(value: Any, arguments: Call) -> Evidence:
    """The result is what the last array holds; what the function returns should be None."""
    *kept, y = arrays(arguments)
    return {"name": "y", "result": y, "arrays": kept, "returns": value is not None}


def arrays(arguments: Call) -> list[torch.Tensor | None]:
    return [torch.tensor(a) if isinstance(a, np.ndarray) else None for a in arguments]


def remark(evidence: Evidence, fault: Fault) -> Fault:
    """Which elements were never read, or more than once, where most were read once."""
    uses = {name: np.array(u) for name, u in evidence.get("read", {}).items() if name != evidence["name"]}
    for id, told, found in (
        ("never-read", "never read", {name: u == 0 for name, u in uses.items()}),
        ("read-twice", "read again", {name: u > 1 for name, u in uses.items() if 2 * (u > 1).sum() <= u.size}),
    ):
        elements = [f"{_elements(name, np.argwhere(at))} {told}." for name, at in found.items() if at.any()]
        if elements:
            return replace(fault, misconception=id, message=" ".join([fault.message, *elements]))
    return fault


def _elements(name: str, at: np.ndarray[Any, Any]) -> str:
    """As in "x[36] to x[38] are"."""
    begin, end = (f"{name}{index.tolist()}" for index in (at[0], at[-1]))
    if len(at) == 1:
        return f"{begin} is"
    if at.shape[1] == 1 and at[-1] - at[0] + 1 == len(at):
        return f"{begin} to {end} are"
    return f"{len(at)} elements of {name}, {begin} and {end} among them, are"


def ones_there(right: Callable[..., int]) -> Callable[[Call, Evidence, tuple[int, ...]], str]:
    """An aside: what comes out where each element is 1, and should be ``right(*arguments)``."""

    def told_of_ones(arguments: Call, evidence: Evidence, at: tuple[int, ...]) -> str:
        ones = evidence.get("ones")
        array = ones if isinstance(ones, torch.Tensor) and ones.shape == evidence["result"].shape else None
        value = number_of(ones if array is None else array[at])
        return "" if value is None else f"Where every element is 1, it is {with_ones(value, right(*arguments))}."

    return told_of_ones


def drawn(needed: str, draw: Callable[[Evidence], str]) -> Callable[[Seen], str]:
    """A picture of the last call, where its evidence has what is drawn."""
    return lambda seen: draw(seen.returned[0][-1]) if needed in seen.returned[0][-1] else ""


def _registers(evidence: Evidence) -> str:
    found, ratio = evidence["code"], evidence.get("ratio")
    note = f"In this run it was {ratio:.1f} times as fast as a loop with one accumulator." if ratio else ""
    if "lanes" not in found:
        return ""
    return draw_registers(found["lanes"], found["bits"], max(1, found["chains"]), found["chains"] > 0, note)


registers = drawn("code", _registers)  # the vector registers of the innermost loop
