"""Some tokens through a block that mixes them in their order: values, gradients, and how many rows it is given."""

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
from lockstep.exercises.mixture_of_experts import flowing
from lockstep.experts.functional import mixture_of_depths

Call = tuple[Tensor, Tensor, Tensor, int]  # x, router, the matrix that the block has, capacity
BY = ("x", "router", "what the block has")
TRIED: dict[str, list[tuple[int, int]]] = {  # tokens, capacity
    "half of the tokens": [(8, 4), (9, 5)],
    "an eighth of the tokens": [(40, 5)],
    "one token of several": [(7, 1), (12, 1)],
    "tokens with scores below 0": [(10, 4)],
    "tokens of equal scores": [(24, 5), (24, 6)],
    "all tokens": [(6, 6)],
    "one token": [(1, 1)],
}
WHY = (
    *flowing.KIND,
    Rule("changes-arguments", lambda e: e["changed"], "it changes x. Leave x as it was.", telling=True),
    Rule("wrong-values", lambda e: e["past"], "token {at} goes past the block, but y is {held} there, and x is {x}."),
    Rule("wrong-values", lambda e: e["through"], "token {at} goes through the block: with the score {score:.4g}, y is "
         "{want} there, not {held}."),
    *flowing.FLOW,
)  # fmt: skip


def block_of(matrix: Tensor) -> Callable[[Tensor], Tensor]:
    """Like causal attention: each row sees those before it."""
    return lambda rows: torch.tanh(rows.cumsum(0) @ matrix)


def calls(case: Case) -> list[Call]:
    drawn, d, found = torch.Generator().manual_seed(case.seed), 4, list[Call]()
    for T, C in TRIED[str(case)]:
        x, router, matrix = (torch.randn(*n, generator=drawn, dtype=torch.float64) for n in ((T, d), (d,), (d, d)))
        if "below" in str(case):
            x[:, 0], router = -x[:, 0].abs() - 0.1, torch.tensor([2.0, 0, 0, 0], dtype=torch.float64)
        if "equal" in str(case):
            x, router = (4 * x).round() / 4, torch.tensor([1.0, 0, 0, 0], dtype=torch.float64)
            x[:, 0] = x[:, 0].round().clamp(-1, 1) + 2
        found.append((x, router, matrix, C))
    return found


def watch(fn: Callable[..., Any], call: Call) -> flowing.Facts:
    """x is what a layer before has computed, as in a model: who changes it in place isn't stopped by autograd."""
    x, router, matrix = given = flowing.leaves(call[:3])
    sequence, rows = x.clone(), list[int]()

    def block(tokens: Tensor) -> Tensor:
        rows.append(len(tokens))
        return block_of(matrix)(tokens)

    y = fn(sequence, router, block, call[3])
    changed = not torch.equal(sequence, x)
    return {"y": plain(y), "changed": changed, "flows": "" if changed else flowing.gradients(y, given), "rows": rows}


def facts(call: Call, evidence: flowing.Facts) -> flowing.Facts:
    """What is wrong first with one call; the rules tell it."""
    x, router, matrix = given = flowing.leaves(call[:3])
    want, y = mixture_of_depths(x, router, block_of(matrix), call[3]), evidence["y"]
    found = {**flowing.NOTHING, "past": False, "through": False, "changed": evidence["changed"]}
    if other := flowing.kind("y", y, want):
        return found | other
    for at in flowing.off(y, want.detach()).any(1).nonzero().flatten().tolist()[:1]:
        found |= {name: flowing.numbers(t[at]) for name, t in (("held", y), ("want", want), ("x", x))}
        through = bool((want != x)[at].any())
        return {**found, "at": at, "through": through, "past": not through, "score": (x[at] @ router).item()}
    return found | flowing.flow(BY, evidence["flows"], flowing.gradients(want, given))


def examine(seen: Seen) -> Fault | None:
    for call, evidence in zip(calls(seen.case), seen.returned[0], strict=True):
        if fault := first(WHY, facts(call, evidence)):
            where = f"With {seen.case}, {len(call[0])} in all and a capacity of {call[3]}"
            return replace(fault, message=f"{where}: {fault.message}")
    return None


def economise(seen: Seen) -> list[Fault]:
    for (x, _, _, C), evidence in zip(calls(seen.case), seen.returned[0], strict=True):
        if evidence["rows"] != [C]:
            told = (
                f"With {len(x)} tokens and a capacity of {C}: block is called with {evidence['rows']} rows; once with "
            )
            return [Fault("too-many-rows", f"{told}{C} is enough.", telling=True)]
    return []


EXERCISE = Exercise(
    number=6, core=False, title="Not every token, every block", points=2, minutes=15, worlds=(1,), pure=True,
    parameters="x, router, block, capacity", reference="lockstep.experts.functional:mixture_of_depths", values=0.75,
    inputs=lambda case, rank: calls(case), watch=watch, examine=examine, economise=economise,
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t == "one token"}) for t in TRIED],
    alike=lambda seen: flowing.rounded([[e["y"], e["changed"], e["flows"]] for e in seen.returned[0]]),
    footprint=lambda seen: [evidence["rows"] for evidence in seen.returned[0]],
)  # fmt: skip
