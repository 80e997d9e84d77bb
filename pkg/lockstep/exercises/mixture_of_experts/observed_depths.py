"""Sequences for a mixture of depths, a block that mixes tokens in their order, and what is wrong first with y."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lockstep.exercises.mixture_of_experts.observed_calls import apart, gradients, leaves, numbers, off
from lockstep.experts.functional import mixture_of_depths

Call = tuple[Tensor, Tensor, Tensor, int]  # x, router, the matrix that the block has, capacity
TRIED: dict[str, list[tuple[int, int]]] = {  # tokens, capacity
    "half of the tokens": [(8, 4), (9, 5)],
    "an eighth of the tokens": [(40, 5)],
    "one token of several": [(7, 1), (12, 1)],
    "tokens with scores below 0": [(10, 4)],
    "tokens of equal scores": [(24, 5), (24, 6)],
    "all tokens": [(6, 6)],
    "one token": [(1, 1)],
}


def calls(name: str, seed: int) -> list[Call]:
    drawn, d, found = torch.Generator().manual_seed(seed), 4, list[Call]()
    for T, C in TRIED[name]:
        x, router, matrix = (torch.randn(*n, generator=drawn, dtype=torch.float64) for n in ((T, d), (d,), (d, d)))
        if "below" in name:
            x[:, 0], router = -x[:, 0].abs() - 0.1, torch.tensor([2.0, 0, 0, 0], dtype=torch.float64)
        elif "equal" in name:
            x, router = (4 * x).round() / 4, torch.tensor([1.0, 0, 0, 0], dtype=torch.float64)
            x[:, 0] = x[:, 0].round().clamp(-1, 1) + 2
        found.append((x, router, matrix, C))
    return found


def observed(fn: Callable[..., Any], call: Call) -> dict[str, Any]:
    """The "result", how it "flows" back, and the "rows" of each call of the block, which works like causal attention:
    each row sees those before it. x is what a layer before has computed, as in a model: who changes it in place isn't
    stopped by autograd."""
    x, router, matrix = given = leaves(call[:3])
    sequence, rows = x.clone(), list[int]()

    def block(tokens: Tensor) -> Tensor:
        rows.append(len(tokens))
        return torch.tanh(tokens.cumsum(0) @ matrix)

    y = fn(sequence, router, block, call[3])
    return {"result": y, "flows": gradients(y, given) if torch.equal(sequence, x) else "", "rows": rows}


def right(call: Call) -> dict[str, Any]:
    return observed(mixture_of_depths, call)


def astray(call: Call, held: Sequence[Tensor], want: Sequence[Tensor]) -> dict[str, Any]:
    """The first token whose y is wrong: whether it goes "past" the block, or "through"."""
    x, router, *_ = call
    for at in off(held[0], want[0].detach()).any(1).nonzero().flatten().tolist()[:1]:
        there, wanted = apart(held[0][at], want[0][at])
        found = {"held": there, "want": wanted, "x": numbers(x[at])}
        scores = x @ router
        equal = " Of equal scores, the token further to the front goes first." * bool((scores == scores[at]).sum() > 1)
        way = "past" if torch.equal(want[0][at], x[at]) else "through"
        return {**found, "at": at, "wrong": way, "score": scores[at].item(), "equal": equal}
    return {}
