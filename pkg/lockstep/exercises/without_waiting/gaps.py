"""Is it a mixing matrix, and how large is its gap?"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number, number_of
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.checks.wording import counted
from lockstep.without_waiting.best_mixing import best_mixing

CLOSE = 1e-9


def shortcoming(case: str, answer: Any, ranks: int, degree: int) -> Fault | None:
    """The first thing that keeps ``answer`` from being a mixing matrix, or else what its gap lacks."""
    W = matrix(answer, ranks)
    if W is None:
        asked = f"{ranks} rows of {counted(ranks, 'number')} are wanted"
        return Fault("wrong-type", f"With {case}: it returns {_kind(answer)}; {asked}.")
    found = invalid(W, degree)
    if found:
        id, said = found
        return Fault(id, f"With {case}: {said}", telling=True)
    return too_small(case, W, torch.tensor(best_mixing(ranks, degree), dtype=torch.float64))


def matrix(answer: Any, ranks: int) -> Tensor | None:
    """As a float64 tensor, K x K; None for what is none. Lists, tuples, arrays and tensors are matrices."""
    rows = answer.tolist() if isinstance(answer, Tensor) else answer
    if not isinstance(rows, (list, tuple)) or len(rows) != ranks:
        return None
    rows = [row.tolist() if isinstance(row, Tensor) else row for row in rows]
    if not all(isinstance(row, (list, tuple)) and len(row) == ranks for row in rows):
        return None
    found = [[number_of(entry) for entry in row] for row in rows]
    if any(entry is None or not math.isfinite(entry) for row in found for entry in row):
        return None
    return torch.tensor(found, dtype=torch.float64)


def invalid(W: Tensor, degree: int) -> tuple[str, str] | None:
    """What a mixing matrix is not like, and the first place of it."""
    if (W < 0).any():
        i, j = (W < 0).nonzero()[0].tolist()
        return "negative-weight", f"entry [{i}, {j}] is {number(W[i, j].item())}: no weight is below 0."
    for id, name, sums in (("rows-do-not-sum-to-1", "row", W.sum(1)), ("columns-do-not-sum-to-1", "column", W.sum(0))):
        if off := ((sums - 1).abs() > CLOSE).nonzero().flatten().tolist():
            return id, f"{name} {off[0]} sums to {number(sums[off[0]].item())}, not to 1."
    if ((W - W.T).abs() > CLOSE).any():
        i, j = ((W - W.T).abs() > CLOSE).nonzero()[0].tolist()
        values = f"entry [{i}, {j}] is {number(W[i, j].item())}, entry [{j}, {i}] is {number(W[j, i].item())}"
        return "not-symmetric", f"{values}: the matrix is not symmetric."
    near = ((W != 0) & ~torch.eye(len(W), dtype=torch.bool)).sum(1)
    if (near > degree).any():
        i = int((near > degree).nonzero()[0])
        many = f"row {i} has {counted(int(near[i]), 'non-zero')} off the diagonal"
        return "too-many-neighbours", f"{many}; {degree} are allowed."
    return None


def too_small(case: str, W: Tensor, reference: Tensor) -> Fault | None:
    """What the gap lacks; its share of the reference's is earned."""
    gap, wanted = gap_of(W), gap_of(reference)
    if gap >= wanted - CLOSE:
        return None
    values = torch.linalg.eigvalsh(W)
    have = f"With {case}: the gap is {number(gap, 3)}, that of the best circulant matrix {number(wanted, 3)}."
    if values[-2] > 1 - CLOSE:
        return Fault("not-connected", f"{have} Some ranks never hear of some others.", telling=True)
    if values[0] < CLOSE - 1:
        why = "An eigenvalue is \N{MINUS SIGN}1: two halves of the ranks swap what they have, for ever."
        return Fault("swaps-for-ever", f"{have} {why}", telling=True)
    return Fault("small-gap", have, earned=gap / wanted, telling=True)


def gap_of(W: Tensor) -> float:
    """1 - |λ₂| of a symmetric matrix, not below 0; 1 for one rank."""
    magnitudes = torch.linalg.eigvalsh(W).abs().sort(descending=True).values
    return max(0.0, 1 - float(magnitudes[1])) if len(W) > 1 else 1.0


def alike(seen: Seen) -> Any:
    """What two answers share that make the same mistake: the flaw, and the eigenvalues."""
    ranks, degree = seen.case.settings["ranks"], seen.case.settings["degree"]
    W = matrix(seen.returned[0][0], ranks)
    fault = shortcoming("", seen.returned[0][0], ranks, degree)
    return [fault.misconception if fault else "", [] if W is None else torch.linalg.eigvals(W).abs().sort()[0].tolist()]


def _kind(answer: Any) -> str:
    if isinstance(answer, list) and answer and isinstance(answer[0], list):
        lengths = sorted({len(row) if isinstance(row, list) else 0 for row in answer})
        return f"{counted(len(answer), 'row')} of {' or '.join(map(str, lengths))} values"
    return told(answer)
