"""How far predictions are off: by rows, by order, and by what choosing with them costs.

    error     predicted tokens a second / published - 1
    tau       Kendall's, over the pairs of a series whose published rates differ by more than 5 %: 1 if all are in
              order, -1 if none is
    regret    published rate of the plan that the planner would choose, below that of the best published one

A *constant* is the rival: one MFU for each GPU, precision and kind of model (dense or mixture), the median of the
calibration rows; where there is none for a GPU, that of its precision and kind, then of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from lockstep.planner.cases import Case
from lockstep.planner.search import Found, search

APART = 0.05  # published rates that are nearer are not told apart


@dataclass(frozen=True)
class Scored:
    """A case with what the planner and the best constant say, in tokens a second of a GPU."""

    case: Case
    found: Found
    constant: float

    @property
    def predicted(self) -> float:
        return self.case.job.tokens / self.found.best[0].step_time / self.case.job.cluster.gpus

    @property
    def error(self) -> float:
        return self.predicted / self.case.tokens_per_second - 1

    @property
    def constant_error(self) -> float:
        return self.constant / self.case.tokens_per_second - 1


def score(cases: Iterable[Case]) -> list[Scored]:
    """All of ``cases``, beside the constants that their calibration rows give."""
    listed = list(cases)
    constants = _constants(listed)
    return [
        Scored(case, search(case.job, case.stack, case.fixed, top=1), _by_constant(case, constants)) for case in listed
    ]


def utilisation(case: Case) -> float:
    """MFU of the published rate, by the planner's count of model FLOP."""
    job = case.job
    return case.tokens_per_second * job.model.flops_per_token(job.model.seq) / job.cluster.gpu.peak(job.precision)


Group = tuple[str, ...]


def _groups(case: Case) -> list[Group]:
    """From the closest to the widest that a constant can be of."""
    kind = "mixture" if case.mixture else "dense"
    return [(case.job.cluster.gpu.name, case.job.precision, kind), (case.job.precision, kind), (kind,), ()]


def _constants(cases: Sequence[Case]) -> Mapping[Group, float]:
    seen: dict[Group, list[float]] = {}
    for case in cases:
        if case.part == "calibration":
            for group in _groups(case):
                seen.setdefault(group, []).append(utilisation(case))
    return {group: median(values) for group, values in seen.items()}


def _by_constant(case: Case, constants: Mapping[Group, float]) -> float:
    mfu = next(constants[group] for group in _groups(case) if group in constants)
    job = case.job
    return mfu * job.cluster.gpu.peak(job.precision) / job.model.flops_per_token(job.model.seq)


def tau(published: Sequence[float], predicted: Sequence[float]) -> tuple[float, int]:
    """(tau, pairs that count); nan without any."""
    signs = [
        _sign((b - a) * (d - c))
        for (a, c), (b, d) in combinations(zip(published, predicted, strict=True), 2)
        if abs(b - a) > APART * max(a, b)
    ]
    return (sum(signs) / len(signs) if signs else float("nan")), len(signs)


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def regret(published: Sequence[float], predicted: Sequence[float]) -> float:
    chosen = max(range(len(predicted)), key=lambda i: predicted[i])
    return 1 - published[chosen] / max(published)
