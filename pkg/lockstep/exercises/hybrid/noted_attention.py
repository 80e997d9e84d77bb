"""Causal attention that notes what it is given: heads and positions of each call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class Attend:
    """attend(q, k, v) for queries (h, T, d), keys and values (g, T, d). ``calls``: [h, g, T] of each."""

    def __init__(self) -> None:
        self.calls = list[list[int]]()

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        shapes = [tuple(x.shape) for x in (q, k, v)]
        if any(len(s) != 3 for s in shapes) or shapes[1] != shapes[2] or shapes[0][1:] != shapes[1][1:]:
            raise ValueError(f"attend takes (h, T, d), (g, T, d) and (g, T, d), and these are {shapes}.")
        if not len(k) or len(q) % len(k):
            raise ValueError(f"attend takes a multiple of its {len(k)} KV heads of queries, and these are {len(q)}.")
        self.calls.append([len(q), len(k), q.shape[1]])
        return attention(q, k, v)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Head i of the queries attends to head i // (h/g)."""
    k, v = (x.repeat_interleave(len(q) // len(k), 0) for x in (k, v))
    S = q @ k.mT / math.sqrt(q.shape[-1])
    return S.masked_fill(torch.ones_like(S, dtype=torch.bool).triu(1), -math.inf).softmax(-1) @ v


def observed(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, list[list[int]]]:
    """What ``fn`` returns, and the calls of the attention among its ``arguments``."""
    result = fn(*arguments)
    noted = next(a for a in arguments if isinstance(a, Attend))
    return result, [list(call) for call in noted.calls]
