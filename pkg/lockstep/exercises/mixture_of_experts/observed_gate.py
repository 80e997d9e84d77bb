"""Scores for a gate that learners stumble over, and what is wrong first with what a gate makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lockstep.exercises.mixture_of_experts.observed_calls import Called, apart, gradients, leaves, numbers, off
from lockstep.experts.gate import Softmax, top_k_gate

Call = tuple[Tensor, int, Softmax]
BOTH: tuple[Softmax, ...] = ("after", "before")
SIZES = "two of several experts"  # of these calls torch's are counted: a few tokens, many, many experts
TRIED: dict[str, list[tuple[int, int, int]]] = {  # tokens, experts, k
    SIZES: [(4, 8, 2), (64, 8, 2), (4, 32, 2), (5, 6, 2)],
    "three experts, or all": [(7, 8, 3), (5, 4, 4)],
    "one expert of several": [(9, 5, 1)],
    "equal scores": [(40, 6, 1), (40, 6, 3), (20, 20, 5)],
    "scores that differ by a ten-millionth": [(9, 6, 3)],
    "scores of up to 1,000": [(8, 6, 2), (8, 6, 6)],
    "float64 scores": [(6, 7, 2)],
    "a matrix that is transposed in memory": [(6, 5, 2)],
    "one token": [(1, 4, 2)],
    "no token, or one expert": [(0, 4, 2), (3, 1, 1)],
}


def calls(name: str, seed: int) -> list[Call]:
    drawn, found = torch.Generator().manual_seed(seed), list[Call]()
    for T, E, k in TRIED[name]:
        scores = torch.randn(T, E, generator=drawn, dtype=torch.float64 if "float64" in name else torch.float32)
        if "equal" in name:
            scores = (scores * 1.5).round()
            scores[:3] = 1.0
        elif "1,000" in name:
            scores = scores * 1000 / scores.abs().max()
        scores = scores * 1e-7 if "ten-millionth" in name else scores
        scores = scores.T.contiguous().T if "transposed" in name else scores
        found += [(scores, k, softmax) for softmax in BOTH]
    return found


def observed(fn: Callable[..., Any], call: Call) -> dict[str, Any]:
    """The "result", how it "flows" back from the weights to the scores, and how often torch was "called". The scores
    are what a layer before has computed: autograd doesn't stop who changes them in place."""
    (scores,) = leaves(call[:1])
    own = scores.clone()
    with Called() as called:
        result = fn(own, *call[1:])
    weights = result[1] if isinstance(result, (tuple, list)) and len(result) == 2 else None
    flows = gradients(weights, [scores]) if torch.equal(own, scores) else ""
    return {"result": result, "flows": flows, "called": called.times}


def right(call: Call) -> dict[str, Any]:
    return observed(top_k_gate, call)


def astray(call: Call, held: Sequence[Tensor], want: Sequence[Tensor]) -> dict[str, Any]:
    """The first token whose choices or weights are wrong: "wrong" says which, and "equal" that scores are equal."""
    for name, given, best in zip(("choices", "weights"), held, want, strict=True):
        rows = off(given, best.detach()).any(1)
        if rows.any():
            token, one, other = (t[rows][0] for t in (call[0], given, best))
            found = {"wrong": name, "softmax": call[2], "total": one.sum().item(), "all": other.sum().item()}
            found["equal"] = (
                " Of equal scores, the lower number goes first." if len(set(token.tolist())) < len(token) else ""
            )
            told, right = apart(one, other)
            return {**found, "scores": numbers(token), "held": told, "best": right}
    return {}


def grown(called: Sequence[int]) -> tuple[int, int, str]:
    """Of the calls of SIZES: how often torch is called for a few tokens and experts, and for more of either; and of
    which. 0, 0 where that is as often."""
    for few, tokens, experts in (called[0:6:2], called[1:6:2]):
        for many, name in ((tokens, "64 tokens"), (experts, "32 experts")):
            if many > few:
                return few, many, name
    return 0, 0, ""
