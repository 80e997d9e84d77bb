"""The largest spectral gap with few links: a valid matrix earns its gap's share of that of the best circulant one."""

from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.without_waiting.best_mixing import best_mixing
from lockstep.without_waiting.flaws import CLOSE, invalid, without_gap
from lockstep.without_waiting.graphs import spectral_gap

TRIED = ((8, 3), (9, 4), (6, 3), (7, 3), (5, 2), (12, 4), (16, 5), (30, 4), (10, 9), (3, 8), (2, 1), (1, 2))


def case(ranks: int, degree: int) -> Case:
    settings = {"asked": (ranks, degree), "told": f"ranks={ranks} and degree={degree}", "trivial": ranks == 1}
    return Case(1, 0, None, settings)


def matrix(answer: Any) -> Tensor:
    """As a float64 tensor; an empty one of what is no matrix of numbers."""
    try:
        found = torch.tensor(answer.tolist() if isinstance(answer, Tensor) else answer, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return torch.empty(0)
    return found if found.isfinite().all() else torch.empty(0)


def shortcoming(seen: Seen) -> Fault | None:
    """The first thing that keeps the answer from being a mixing matrix, or else what its gap lacks."""
    ranks, degree = seen.case.settings["asked"]
    (answer,), W = seen.returned[0], matrix(seen.returned[0][0])
    if W.shape != (ranks, ranks):
        return Fault("wrong-type", f"With {seen.case}: it returns {told(answer)}; a list of {ranks} lists of {ranks} "
                     "numbers is wanted.")  # fmt: skip
    if flaw := invalid(W, degree):
        return Fault(flaw.name, f"With {seen.case}: {flaw.said}", telling=True)
    gap, wanted = (max(0.0, spectral_gap(one)) for one in (W, matrix(best_mixing(ranks, degree))))
    if gap >= wanted - CLOSE:
        return None
    have = f"With {seen.case}: the gap is {gap:.3g}, that of the best circulant matrix {wanted:.3g}."
    if flaw := without_gap(W):
        return Fault(flaw.name, f"{have} {flaw.said}", telling=True)
    return Fault("wrong-values", have, earned=gap / wanted, telling=True)


def alike(seen: Seen) -> Any:
    """What two answers share that make the same mistake: the flaw, and the eigenvalues."""
    W, fault = matrix(seen.returned[0][0]), shortcoming(seen)
    is_square = W.dim() == 2 and W.shape[0] == W.shape[1]
    return [fault.misconception if fault else "", torch.linalg.eigvals(W).abs().sort()[0].tolist() if is_square else []]


EXERCISE = Exercise(
    number=8, core=False, title="The best mixing matrix", points=4, minutes=25, parameters="ranks, degree",
    reference="lockstep.without_waiting.best_mixing:best_mixing", cases=lambda K, seed: [case(*pair) for pair in TRIED],
    inputs=lambda case, rank: [case.settings["asked"]], worlds=(1,), pure=True, values=1.0, examine=shortcoming,
    alike=alike,
)  # fmt: skip
