"""Gradients and residuals whose totals have a plain order of magnitudes; or many equal ones."""

from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import DTYPES, Case, generator
from lockstep.exercises.communication.tensors import groups

LARGE = {"numel": 200, "k": 5, "dtype": "float32", "kind": ""}
ALIKE, TIES = ", the largest in the same places on each rank", ", most of them equally large"
AWKWARD: dict[int, list[dict[str, Any]]] = {
    1: [{"kind": TIES}],
    2: [{"kind": TIES}, {"numel": 6, "k": 6}],
    3: [{"kind": ALIKE, "dtype": "float64"}, {"numel": 5, "k": 1}],
    4: [{"kind": TIES, "dtype": "float64"}],
}


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(group, LARGE) for group in groups(ranks)] + [(None, LARGE | more) for more in AWKWARD.get(ranks, [])]
    return [_case(ranks, seed + n, group, settings) for n, (group, settings) in enumerate(rows)]


def _case(ranks: int, seed: int, group: tuple[int, ...] | None, settings: dict[str, Any]) -> Case:
    told = f"{Case(ranks, seed, group, settings)}, k={settings['k']}{settings['kind']}"
    return Case(ranks, seed, group, {**settings, "told": told, "trivial": ranks == 1})


def inputs(case: Case, rank: int) -> tuple[Tensor, Tensor, int]:
    """Multiples of K, so that their means are exact. The largest gradients aren't where the largest totals are."""
    numel, kind, draw = case.settings["numel"], case.settings["kind"], generator(case, rank)
    total = torch.randperm(numel, generator=generator(case, -1) if kind == ALIKE else draw) + 1.0
    total = total.clamp(max=4) if kind == TIES else total
    total *= torch.randint(2, (numel,), generator=draw) * 2 - 1
    gradient = torch.randint(-2 * numel, 2 * numel, (numel,), generator=draw) / 4
    dtype, K = DTYPES[case.settings["dtype"]], case.size
    return (K * gradient).to(dtype), (K * (total - gradient)).to(dtype), case.settings["k"]


def wanted(case: Case, left: list[Any]) -> list[tuple[Tensor, Tensor]]:
    """The mean and the residual of each member. Of equally large elements those are sent that it hasn't ``left``."""
    given = [inputs(case, rank) for rank in case.members]
    totals = [gradient + residual for gradient, residual, _ in given]
    chosen = [_chosen(total, k, mine) for total, (*_, k), mine in zip(totals, given, left, strict=True)]
    mean = torch.stack([total * mine for total, mine in zip(totals, chosen, strict=True)]).sum(0) / case.size
    return [(mean, total.masked_fill(mine, 0)) for total, mine in zip(totals, chosen, strict=True)]


def forgiven(held: Any, want: Tensor) -> Tensor:
    """What is wanted; where ``held`` is off by rounding, what is held: some multiply by 1/K."""
    if not isinstance(held, Tensor) or (held.shape, held.dtype) != (want.shape, want.dtype):
        return want
    return torch.where(torch.isclose(held, want, rtol=1e-6, atol=0), held, want)


def _chosen(total: Tensor, k: int, left: Any) -> Tensor:
    """Where something was sent, a mask: what isn't left; if these are not the k largest, some that are."""
    largest = total.abs().topk(k)
    if isinstance(left, Tensor) and left.shape == total.shape:
        sent = left == 0
        if torch.equal(total[sent].abs().sort(descending=True).values, largest.values):
            return sent
    return torch.zeros_like(total, dtype=torch.bool).index_fill(0, largest.indices, True)
