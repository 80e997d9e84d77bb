"""Exercises about tensors on one rank, judged by their results and by the gradients that flow back from these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Exercise, Run
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.exercises.mixture_of_experts.observed_calls import off, rounded

Facts = dict[str, Any]

# Of a call about which nothing is known yet; and rules for what ``kind`` and ``flow`` find.
NOTHING = dict.fromkeys(("type", "shape", "dtype", "backward", "cut", "flows", "wrong"))
KIND = (
    Rule("wrong-type", lambda e: e["type"], "it returns {type}; {asked} is wanted."),
    Rule("wrong-shape", lambda e: e["shape"], "{name} has the shape {shape}, not {right}."),
    Rule("wrong-dtype", lambda e: e["dtype"], "{name} is {dtype}, not {right}."),
)
FLOW = (
    Rule("no-gradient", lambda e: e["backward"], "autograd can't go backward from your result: {backward}.",
         telling=True),
    Rule("no-gradient", lambda e: e["cut"], "the values are right, but no gradient flows to {cut}.", telling=True),
    Rule("wrong-values", lambda e: e["flows"], "the values are right, but of the gradient by {by} element {at} is "
         "{flows}, not {should}."),
)  # fmt: skip


def kind(name: str, held: Any, want: Tensor) -> Facts:
    """That it is no such tensor; nothing if it is one."""
    if not isinstance(held, Tensor):
        return {"type": told(held), "asked": "a tensor"}
    if held.shape != want.shape:
        return {"name": name, "shape": f"{tuple(held.shape)}", "right": f"{tuple(want.shape)}"}
    return {"name": name, "dtype": f"{held.dtype}", "right": f"{want.dtype}"} if held.dtype != want.dtype else {}


def flow(names: Sequence[str], flows: Any, right: Any, least: float = 0.0) -> Facts:
    """What is wrong with the gradients by ``names``, beyond rounding of ``least``."""
    if isinstance(flows, str):
        return {"backward": flows}
    pairs = [row for row in zip(names, flows, right, strict=True) if len(row[2])]  # of nothing there is no gradient
    for name, held, _ in pairs:
        if held is None:
            return {"cut": name}
    for name, held, want in pairs:
        for at in off(held, want, least).flatten().nonzero().flatten().tolist()[:1]:
            there, should = apart(held.flatten()[at].item(), want.flatten()[at].item())
            return {"by": name, "at": at, "flows": there, "should": should}
    return {}


@dataclass(frozen=True)
class Flowing:
    """How such an exercise is judged. ``task`` is a module with TRIED, calls, observed, right and astray. ``names``: of
    the tensors that the function returns; ``asked``: all of them, in a sentence; ``by``: the arguments that have
    gradients; ``rules``: for what ``astray`` finds."""

    task: ModuleType
    names: Sequence[str]
    asked: str
    by: Sequence[str]
    rules: Sequence[Rule]

    def exercise(self, trivial: str, **fields: Any) -> Exercise:
        tried, observed = self.task.TRIED, self.task.observed
        exercise = Exercise(
            cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t == trivial}) for t in tried],
            inputs=lambda case, rank: self.calls(case), worlds=(1,), pure=True,
            run=Run(watch=lambda fn, call: _plain(observed(fn, call))), **fields,
        )  # fmt: skip
        return replace(
            exercise,
            values=replace(exercise.values, examine=self.examine),
            comparison=replace(exercise.comparison, alike=_alike),
        )

    def calls(self, case: Case) -> Any:
        return self.task.calls(str(case), case.seed)

    def examine(self, seen: Seen) -> Fault | None:
        """What is wrong with the first call that is not right."""
        for call, evidence in zip(self.calls(seen.case), seen.returned[0], strict=True):
            if fault := first((*KIND, *self.rules, *FLOW), self._facts(call, evidence)):
                return replace(fault, message=f"With {seen.case}: {fault.message}")
        return None

    def _facts(self, call: Any, evidence: Facts) -> Facts:
        right, found = self.task.right(call), {**evidence, **NOTHING}
        held, want = ([e["result"]] if len(self.names) == 1 else e["result"] for e in (evidence, right))
        if not (isinstance(held, list) and len(held) == len(want)):
            return {**found, "type": told(held), "asked": self.asked}
        other = next(filter(None, map(kind, self.names, held, want)), None)
        return found | (other or self.task.astray(call, held, want) or flow(self.by, evidence["flows"], right["flows"]))


def _alike(seen: Seen) -> list[Any]:
    return [[rounded(e["result"]), rounded(e["flows"])] for e in seen.returned[0]]


def _plain(evidence: Facts) -> Facts:
    return {**evidence, "result": plain(evidence["result"])}
