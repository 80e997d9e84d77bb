"""Attention in blocks of keys: each result is kept with the logarithm of its weights' sum, and two of them merge.

    S = q·kᵀ/√d    L = log Σ exp S    O = exp(S - L)·v        of some keys; L is a number for each query

    keys 1   O₁, L₁ ──┐     L = log(exp L₁ + exp L₂)
    keys 2   O₂, L₂ ──┴──   O = exp(L₁ - L)·O₁ + exp(L₂ - L)·O₂      of both: in any order, any number of blocks

No exponent is positive, so nothing overflows. The backward pass computes each block's weights anew from L, which is of
all keys: P = exp(S - L). With D = Σ dO·O for each query,

    dv = Pᵀ·dO      dP = dO·vᵀ      dS = P·(dP - D)      dq = dS·k/√d      dk = dSᵀ·q/√d

Sources: Milakov & Gimelshein, arXiv:1805.02867 (online softmax); Dao et al., FlashAttention, arXiv:2205.14135, section
3.1 and appendix B. Their kernels never write a block's S to memory; here it is a tensor.

Shapes: q (b, G, n, t, d) for G heads of keys and values, each of which serves n heads of queries; k and v (b, G, s, d).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def scores(q: Tensor, k: Tensor, diagonal: bool) -> Tensor:
    """S, (b, G, n, t, s). ``diagonal``: queries and keys are of the same positions, and none attends to a later one."""
    S = q @ k.unsqueeze(2).mT / math.sqrt(q.shape[-1])
    return S.masked_fill(torch.ones_like(S, dtype=torch.bool).triu(1), -math.inf) if diagonal else S


def attend(q: Tensor, k: Tensor, v: Tensor, diagonal: bool) -> tuple[Tensor, Tensor]:
    """O (b, G, n, t, d) and L (b, G, n, t, 1) of these keys."""
    S = scores(q, k, diagonal)
    L = S.logsumexp(-1, keepdim=True)
    return (S - L).exp() @ v.unsqueeze(2), L


def merge(O1: Tensor, L1: Tensor, O2: Tensor, L2: Tensor) -> tuple[Tensor, Tensor]:
    """O and L of both sets of keys."""
    L = torch.logaddexp(L1, L2)
    return (L1 - L).exp() * O1 + (L2 - L).exp() * O2, L


def attend_backward(
    q: Tensor, k: Tensor, v: Tensor, diagonal: bool, L: Tensor, D: Tensor, dO: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """What these keys add to dq (as q), dk and dv (as k). ``L`` and ``D`` (b, G, n, t, 1) are of all keys."""
    P = (scores(q, k, diagonal) - L).exp()
    dS = P * (dO @ v.unsqueeze(2).mT - D) / math.sqrt(q.shape[-1])
    return dS @ k.unsqueeze(2), (dS.mT @ q).sum(2), (P.mT @ dO).sum(2)
