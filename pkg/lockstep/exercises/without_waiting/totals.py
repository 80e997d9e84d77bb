"""Gradients and residuals whose totals have clearly different magnitudes; or many equal ones."""

from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import DTYPES, Case, generator
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.evidence import case

PLAIN, ALIKE, TIES = "", "the largest in the same places on each rank", "most of them equally large"
ZEROS = "nothing but zeros on rank 0"
AWKWARD = {  # by ranks: numel, k, dtype, kind
    2: [(200, 5, "float32", TIES), (6, 6, "float32", PLAIN)],
    3: [(200, 20, "float64", ALIKE), (5, 1, "float32", PLAIN), (5, 2, "float32", ZEROS)],
    4: [(200, 5, "float64", TIES)],
}


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(group, (200, 5, "float32", PLAIN)) for group in groups(ranks)]
    rows += [(None, row) for row in AWKWARD.get(ranks, [])]
    return [case(ranks, seed + n, group, f"k={k}", kind, numel=numel, k=k, dtype=dtype, kind=kind)
            for n, (group, (numel, k, dtype, kind)) in enumerate(rows)]  # fmt: skip


def inputs(case: Case, rank: int) -> tuple[Tensor, Tensor, int]:
    """Multiples of K, so that their means are exact; with bits that no smaller dtype holds. The largest gradients
    aren't where the largest totals are. Where places are ``ALIKE``, sums are rounded, by their order. Of ``TIES``
    the last two are larger."""
    numel, kind, draw = case.settings["numel"], case.settings["kind"], generator(case, rank)
    total = torch.randperm(numel, generator=generator(case, -1) if kind == ALIKE else draw) + 1.0
    if kind == TIES:
        total = total.clamp(max=4)
        total[-2:] = 8
    total *= torch.randint(2, (numel,), generator=draw) * 2 - 1
    gradient = (torch.randint(-2 * numel, 2 * numel, (numel,), generator=draw) / 4).double()
    total = total + torch.rand(numel, generator=draw, dtype=torch.float64) / 4 if kind == ALIKE else total
    if kind == ZEROS and rank == 0:
        total, gradient = torch.zeros(numel), torch.zeros(numel)
    dtype, K = DTYPES[case.settings["dtype"]], case.size
    unit = K * (2**30 + 1 if dtype == torch.float64 else 2**11 + 1)
    return (unit * gradient.double()).to(dtype), (unit * (total - gradient).double()).to(dtype), case.settings["k"]


def wanted(case: Case, left: list[Any]) -> list[tuple[Tensor, Tensor]]:
    """The mean and the residual of each member. Of equally large elements those are sent that it hasn't ``left``."""
    given = [inputs(case, rank) for rank in case.members]
    kept = [_kept(gradient + residual, k, mine) for (gradient, residual, k), mine in zip(given, left, strict=True)]
    sent = [gradient + residual - mine for (gradient, residual, _), mine in zip(given, kept, strict=True)]
    return [(torch.stack(sent).sum(0) / case.size, mine) for mine in kept]


def _kept(total: Tensor, k: int, left: Any) -> Tensor:
    """The total with zeros at its k largest elements: where ``left`` has some, if these are as large as any."""
    largest = total.abs().topk(k)
    if isinstance(left, Tensor) and left.shape == total.shape:
        sent = left == 0
        if torch.equal(total[sent].abs().sort(descending=True).values, largest.values):
            return total.masked_fill(sent, 0)
    return total.index_fill(0, largest.indices, 0)
