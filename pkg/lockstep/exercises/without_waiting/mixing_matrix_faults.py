"""Is it a mixing matrix? What keeps a matrix from being one, in a word and a sentence."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from lockstep.without_waiting.gossip import spectral_gap

CLOSE = 1e-6


class Flaw(NamedTuple):
    """``name`` is the same for the same flaw, ``said`` names the place."""

    name: str
    said: str


def matrix(answer: Any) -> Tensor:
    """As a float64 tensor; an empty one of what is no matrix of numbers."""
    try:
        found = torch.tensor(answer.tolist() if isinstance(answer, Tensor) else answer, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return torch.empty(0)
    return found


def moduli(W: Tensor) -> list[float]:
    """Of the eigenvalues, in ascending order; none of what is not square."""
    is_square = W.dim() == 2 and W.shape[0] == W.shape[1] and bool(W.isfinite().all())
    return sorted(torch.linalg.eigvals(W).abs().tolist()) if is_square else []


def invalid(W: Tensor, degree: int) -> Flaw | None:
    """Why gossip with the K x K matrix ``W`` does not keep the mean, or costs too much; the first of: what is no
    number, weights below 0, sums that are not 1, a matrix that is not symmetric, more than ``degree`` neighbours."""
    for i, j in (~W.isfinite()).nonzero().tolist():
        return Flaw("not-finite", f"entry [{i}, {j}] is {W[i, j]}: is something divided by 0?")
    for i, j in (W < 0).nonzero().tolist():
        return Flaw("negative-weight", f"entry [{i}, {j}] is {W[i, j]:.4g}: no weight is below 0.")
    for what, sums in (("row", W.sum(1)), ("column", W.sum(0))):
        for n in ((sums - 1).abs() > CLOSE).nonzero().flatten().tolist():
            return Flaw(f"{what}s-do-not-sum-to-1", f"{what} {n} sums to {sums[n]:.10g}, not to 1.")
    for i, j in ((W - W.T).abs() > CLOSE).nonzero().tolist():
        values = f"entry [{i}, {j}] is {W[i, j]:.10g}, entry [{j}, {i}] is {W[j, i]:.10g}"
        return Flaw("not-symmetric", f"{values}: the matrix is not symmetric.")
    near = (W - W.diagonal().diag() != 0).sum(1)
    for i in (near > degree).nonzero().flatten().tolist():
        return Flaw("too-many-neighbours", f"row {i} has {near[i]} non-zeros off the diagonal; {degree} are allowed.")
    return None


def slowest(W: Tensor) -> str:
    """What keeps the gap of this symmetric matrix small, and which way is out of it."""
    values = torch.linalg.eigvalsh(W)
    low, high = values[0].item(), values[-2].item() if len(W) > 1 else 0.0
    if low < 0 and abs(low) >= abs(high):
        return f"λ₂ is −{abs(low):.3g}: ranks overshoot. More weight on the diagonal brings it nearer to 0."
    return f"λ₂ is {high:.3g}: some ranks hear too little of others. Other links help, or more weight on these."


def without_gap(W: Tensor) -> Flaw | None:
    """Why ranks that gossip with this symmetric matrix never agree; None if they do."""
    values = torch.linalg.eigvalsh(W)
    if len(W) == 1 or spectral_gap(W) > CLOSE:
        return None
    if values[-2] > 1 - CLOSE:
        return Flaw("not-connected", "Some ranks never hear of some others.")
    why = "An eigenvalue is \N{MINUS SIGN}1: two halves of the ranks swap what they have, for ever."
    return Flaw("swaps-for-ever", why)
