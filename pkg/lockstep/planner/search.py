"""All plans of a job that can be meant, the best first.

What ``--fix`` leaves open is searched: tp within an NVLink domain, pp and vp that the layers allow, cp where a sequence
is long, ep among the divisors of the experts, micro-batches of up to 16 sequences. Recomputation
costs time and saves memory, and nothing else: the least that fits is taken.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd
from typing import TypeAlias

from lockstep.errors import UsageError
from lockstep.planner import memory, plans, step
from lockstep.planner.memory import Needs
from lockstep.planner.plans import RECOMPUTE, Job, Plan
from lockstep.planner.stacks import Stack
from lockstep.planner.step import Estimate

Fixed = Mapping[str, int | str | bool]  # by the axes of ``Plan``
Divided: TypeAlias = tuple[Plan, Sequence[int]]  # and the values of vp

MOST_OF_A_MICRO_BATCH = 16
POSITIONS_EACH = 4096  # context parallelism is tried down to so many positions on a GPU


@dataclass(frozen=True)
class Found:
    """``searched`` plans were legal; ``best``: those that fit, the fastest first; else those that need least memory."""

    searched: int
    best: tuple[Estimate, ...]
    fits: bool


def fits(job: Job, found: Estimate) -> bool:
    return found.memory <= job.cluster.gpu.memory


def search(job: Job, stack: Stack, fixed: Fixed | None = None, top: int = 5) -> Found:
    """The ``top`` fastest plans that fit, with the axes ``fixed`` as they are given. Where none fits: those that need
    the least memory. Raises UsageError if no plan is legal."""
    fixed = fixed or {}
    recomputing = [str(fixed["recompute"])] if "recompute" in fixed else RECOMPUTE
    good, least = Best(top), Best(top)
    number = 0
    for divided, chunks in divisions(job, fixed):
        for zero in _stages(divided, fixed, stack):
            left = chunks
            for recompute in recomputing:
                number += len(left)
                plan = divided._replace(zero=zero, recompute=recompute)
                _, fitting, others = fit(job, stack, plan, left)
                if fitting and step.at_least(job, plan, stack, fitting[-1]) <= good.worst:
                    steps = step.of_any_chunks(job, plan, stack)
                    for vp in fitting:
                        good.add(steps.seconds(vp), plan, vp)
                for needed, vp in others:
                    least.add(needed, plan, vp)
                left = [vp for _, vp in others]
                if not left:
                    break
    if not number:
        raise UsageError(_why_none(job, fixed), "Change what you fix, the batch or the number of GPUs.")
    best = good.plans or least.plans
    return Found(number, tuple(step.estimate(job, plan, stack) for plan in best), bool(good.plans))


class Best:
    """The ``top`` plans with the smallest values, seconds or bytes; of equal ones those first that come first
    ``in_order``."""

    def __init__(self, top: int) -> None:
        self.top, self.worst = top, float("inf")
        self._found: list[tuple[float, tuple[int, ...], Plan]] = []

    def add(self, value: float, plan: Plan, vp: int) -> None:
        """``plan`` with ``vp`` chunks."""
        if value > self.worst:
            return
        one = plan._replace(vp=vp)
        insort(self._found, (value, in_order(one), one))
        if len(self._found) >= self.top:
            del self._found[self.top :]
            self.worst = self._found[-1][0]

    @property
    def plans(self) -> list[Plan]:
        return [plan for *_, plan in self._found]


def fit(job: Job, stack: Stack, plan: Plan, chunks: Sequence[int]) -> tuple[Needs, list[int], list[tuple[float, int]]]:
    """What ``plan`` needs, whatever its vp is; of ``chunks`` those with which it fits; the others with their bytes."""
    needs, most = memory.of_any_chunks(job, plan, stack), job.cluster.gpu.memory
    needed = [(needs.total(vp), vp) for vp in chunks]
    return needs, [vp for n, vp in needed if n <= most], [pair for pair in needed if pair[0] > most]


def in_order(plan: Plan) -> tuple[int, ...]:
    """Which of two plans is named first that are equally good."""
    return (
        plan.tp, plan.cp, plan.pp, plan.micro_batch, plan.vp, plan.ep, plan.zero, RECOMPUTE.index(plan.recompute)
    )  # fmt: skip


def _stages(plan: Plan, fixed: Fixed, stack: Stack) -> Sequence[int]:
    """ZeRO's stages to try: that of the stack, and 3 where no pipeline would gather weights for every micro-batch."""
    further = [3] if plan.pp == 1 and 0 < stack.zero < 3 else []
    return _choices(fixed, "zero", [stack.zero, *further])


def divisions(job: Job, fixed: Fixed) -> Sequence[Divided]:
    """Every legal division among GPUs, each with the values of vp that it can have, in order. They are the same in all
    precisions."""
    return _divisions(replace(job, precision="bf16", dispatch="bf16"), tuple(sorted(fixed.items())))


@lru_cache(maxsize=256)
def _divisions(job: Job, fixed: tuple[tuple[str, int | str | bool], ...]) -> Sequence[Divided]:
    return list(_divided(job, dict(fixed)))


def _divided(job: Job, fixed: Fixed) -> Iterator[Divided]:
    model, cluster = job.model, job.cluster
    for tp in _choices(
        fixed, "tp", [t for t in divisors(cluster.gpus) if t <= cluster.domain and model.kv_heads % t == 0]
    ):
        for cp in _choices(fixed, "cp", [c for c in divisors(cluster.gpus // gcd(tp, cluster.gpus)) if _long(job, c)]):
            rest = cluster.gpus // (tp * cp) or 1
            for pp in _choices(fixed, "pp", [p for p in divisors(rest) if p <= model.layers]):
                (dp,) = _choices(fixed, "dp", [max(1, rest // pp)])
                yield from _micro_batched(job, fixed, Plan(dp=dp, tp=tp, pp=pp, cp=cp))


def _micro_batched(job: Job, fixed: Fixed, plan: Plan) -> Iterator[Divided]:
    model = job.model
    if job.batch % plan.dp:
        return
    each = job.batch // plan.dp
    experts = gcd(model.experts, plan.dp * plan.cp * plan.tp) if model.experts else 1
    chunks = [v for v in divisors(-(-model.layers // plan.pp)) if plan.pp > 1 or v == 1]
    (divided,) = _choices(fixed, "sequence_parallel", [plan.tp > 1 and model.seq // plan.cp % plan.tp == 0])
    (beside,) = _choices(fixed, "overlap", [True])
    (zero,) = _choices(fixed, "zero", [plan.zero])
    for micro in _choices(fixed, "micro_batch", [b for b in range(1, MOST_OF_A_MICRO_BATCH + 1) if each % b == 0]):
        for ep in _choices(fixed, "ep", divisors(experts)):
            one = plan._replace(
                micro_batch=micro, ep=ep, sequence_parallel=bool(divided), overlap=bool(beside), zero=zero
            )
            alike = _choices(fixed, "vp", chunks)
            if legal := [vp for vp in alike if not plans.illegal(job, one._replace(vp=vp))]:
                yield one, legal


def _choices(fixed: Fixed, axis: str, otherwise: Sequence[int]) -> Sequence[int]:
    return [int(fixed[axis])] if axis in fixed else otherwise


def _long(job: Job, cp: int) -> bool:
    return cp == 1 or (job.model.seq % (2 * cp) == 0 and job.model.seq // cp >= POSITIONS_EACH)


@lru_cache(maxsize=10_000)
def divisors(number: int) -> list[int]:
    small = [n for n in range(1, int(number**0.5) + 1) if number % n == 0]
    return sorted({*small, *(number // n for n in small)})


def _why_none(job: Job, fixed: Fixed) -> str:
    """The rule that what is fixed breaks by itself; else what does not divide."""
    plan = Plan(**fixed)  # type: ignore[arg-type]
    known = {"tp", "pp", "cp"} <= set(fixed)
    if known and "dp" not in fixed:
        plan = plan._replace(dp=max(1, job.cluster.gpus // (plan.tp * plan.pp * plan.cp)))
    told = plans.illegal(job, plan, {*fixed, "dp"} if known else fixed)
    return told or (
        f"No plan divides {job.batch:,} sequences and {job.model.layers} layers among {job.cluster.gpus:,} GPUs"
        + (" with what is fixed." if fixed else ".")
    )
