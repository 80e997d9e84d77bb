"""The gate: choices in order where scores are equal, weights that don't overflow, and gradients of all scores."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.rules import Rule, first
from lockstep.checks.values import told
from lockstep.exercises.mixture_of_experts import flowing
from lockstep.experts.gate import Softmax, top_k_gate

Call = tuple[Tensor, int, Softmax]
BOTH: tuple[Softmax, ...] = ("after", "before")
TRIED: dict[str, list[tuple[int, int, int]]] = {  # tokens, experts, k
    "two of six experts": [(5, 6, 2), (4, 8, 2), (64, 8, 2), (4, 32, 2)],
    "three experts, or all": [(7, 8, 3), (5, 4, 4)],
    "one expert of several": [(9, 5, 1)],
    "equal scores": [(40, 6, 1), (40, 6, 3), (20, 20, 5)],
    "scores of up to 1,000": [(8, 6, 2), (8, 6, 6)],
    "float64 scores": [(6, 7, 2)],
    "a matrix that is transposed in memory": [(6, 5, 2)],
    "one token": [(1, 4, 2)],
    "no token, or one expert": [(0, 4, 2), (3, 1, 1)],
}
WHY = (
    *flowing.KIND,
    Rule("wrong-values", lambda e: e["choices"], "a token with the scores {scores} has the choices {choices}, not "
         "{best}.{equal}"),
    Rule("wrong-values", lambda e: e["weights"], 'with softmax="{softmax}", a token with the scores {scores} has the '
         "weights {weights}, which add up to {total:.4g}; they are {best}, and add up to {all:.4g}."),
    *flowing.FLOW,
)  # fmt: skip


def calls(case: Case) -> list[Call]:
    drawn, found = torch.Generator().manual_seed(case.seed), list[Call]()
    for T, E, k in TRIED[str(case)]:
        scores = torch.randn(T, E, generator=drawn, dtype=torch.float64 if "float64" in str(case) else torch.float32)
        if "equal" in str(case):
            scores = (scores * 1.5).round()
            scores[:3] = 1.0
        scores = scores * 1000 / scores.abs().max() if "1,000" in str(case) else scores
        scores = scores.T.contiguous().T if "transposed" in str(case) else scores
        found += [(scores, k, softmax) for softmax in BOTH]
    return found


def watch(fn: Callable[..., Any], call: Call) -> flowing.Facts:
    (scores,), counted = flowing.leaves(call[:1]), flowing.Operations()
    with counted:
        result = fn(scores, *call[1:])
    weights = result[1] if isinstance(result, (tuple, list)) and len(result) == 2 else None
    return {"result": plain(result), "flows": flowing.gradients(weights, [scores]), "operations": counted.number}


def facts(call: Call, evidence: flowing.Facts) -> flowing.Facts:
    """What is wrong first with one call; the rules tell it."""
    (scores,), k, softmax = flowing.leaves(call[:1]), *call[1:]
    right, result = top_k_gate(scores, k, softmax), evidence["result"]
    found = {**flowing.NOTHING, "choices": None, "weights": None, "softmax": softmax}
    if not (isinstance(result, list) and len(result) == 2):
        return {**found, "type": told(result), "asked": "a tuple of two tensors, the choices and their weights,"}
    for which, held, want in zip(("choices", "weights"), result, right, strict=True):
        if other := flowing.kind(f"the tensor of {which}", held, want):
            return found | other
        wrong = ((held != want) if which == "choices" else flowing.off(held, want.detach())).any(1)
        if wrong.any():
            token, given, best = (t[wrong][0] for t in (scores, held, want))
            equal = " Of equal scores, the lower number goes first." if len(token.unique()) < len(token) else ""
            sums = {"total": given.sum().item(), "all": best.sum().item(), "equal": equal}
            rows = zip(("scores", which, "best"), (token, given, best), strict=True)
            return {**found, **sums, **{name: flowing.numbers(row) for name, row in rows}}
    return found | flowing.flow(["scores"], evidence["flows"], flowing.gradients(right[1], [scores]))


def examine(seen: Seen) -> Fault | None:
    for call, evidence in zip(calls(seen.case), seen.returned[0], strict=True):
        if fault := first(WHY, facts(call, evidence)):
            return replace(fault, message=f"With {seen.case}: {fault.message}")
    return None


def operations(seen: Seen) -> list[tuple[int, int, int]]:
    """Where sizes differ and k does not: those for a few tokens, for many, and for many experts."""
    if "two of" not in str(seen.case):
        return []
    counts = [evidence["operations"] for evidence in seen.returned[0]]
    return [(counts[2 + at], counts[4 + at], counts[6 + at]) for at in range(2)]


def economise(seen: Seen) -> list[Fault]:
    for few, tokens, experts in operations(seen):
        grown = next(((n, of) for n, of in ((tokens, "64 tokens"), (experts, "32 experts")) if n > few), None)
        if grown:
            told = (
                f"torch computes {few} times for 4 tokens and 8 experts, and {grown[0]} times for {grown[1]}: no loop "
            )
            return [Fault("too-many-operations", f"{told}over tokens or experts is needed.", telling=True)]
    return []


EXERCISE = Exercise(
    number=2, title="The gate", points=3, minutes=15, worlds=(1,), pure=True, parameters="scores, k, softmax",
    reference="lockstep.experts.gate:top_k_gate", inputs=lambda case, rank: calls(case), values=0.75, watch=watch,
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t.startswith("no ")}) for t in TRIED],
    examine=examine, economise=economise,
    alike=lambda seen: flowing.rounded([[e["result"], e["flows"]] for e in seen.returned[0]]),
    footprint=lambda seen: [few < max(more) for few, *more in operations(seen)],
)  # fmt: skip
