"""The plans that ``show.plan`` shows, computed ahead by the planner: for each job the best one, and a field around it.

Stops   the values of each axis whose combinations are computed
Field   a job's plans: each is what ``lockstep plan --fix`` answers, with vp searched; and the rules that others break
packed  its numbers in columns, rounded to what is shown
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from operator import itemgetter
from typing import Any

from lockstep.planner import plans
from lockstep.planner.answers import LOW_AND_HIGH
from lockstep.planner.memory import KINDS
from lockstep.planner.plans import RECOMPUTE, Job, Plan
from lockstep.planner.search import POSITIONS_EACH, divisions, fit, fits, search
from lockstep.planner.stacks import Stack
from lockstep.planner.step import AXES as COMMUNICATING
from lockstep.planner.step import Estimate, of_any_chunks

AXES = ("dp", "tp", "pp", "cp", "ep", "zero", "micro_batch", "recompute")  # those of the sliders; vp is searched
DIVIDING = ("tp", "pp", "cp", "ep", "micro_batch")
TIMES = ("recomputation", "hosts", "bubble", *COMMUNICATING, "optimizer")  # what a step has besides compute
GB = 1e9

Condition = tuple[tuple[str, int], ...]  # values of axes


@dataclass(frozen=True)
class Stops:
    """Values of each axis. Unless ``thick``, ZeRO-3 is tried without a pipeline only, as in ``lockstep plan``."""

    tp: Sequence[int] = (1, 2, 4, 8)
    pp: Sequence[int] = (1, 2, 4, 8, 16)
    cp: Sequence[int] = (1,)
    ep: Sequence[int] = (8, 64)  # of a mixture
    micro_batch: Sequence[int] = (1, 2)
    thick: bool = False


FEW = Stops()
MANY = Stops(pp=(1, 2, 4, 8, 16, 32), cp=(1, 2), ep=(1, 8, 32, 64), micro_batch=(1, 2, 4), thick=True)
LOOKED_AT: dict[str, Sequence[int]] = {  # where sliders stop at least: what is not computed is refused or named
    "tp": (1, 2, 4, 8, 16), "pp": (1, 2, 4, 8, 16, 32), "cp": (1, 2), "ep": (1, 8, 64), "zero": (0, 1, 2, 3),
    "micro_batch": (1, 2, 4), "recompute": (0, 1, 2),
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """A job's plans. ``best``: the number of the best of all that were searched; of the leanest if none fits."""

    job: Job
    stack: Stack
    found: tuple[Estimate, ...]
    best: int
    searched: int
    rules: dict[Condition, str] = field(repr=False)

    @property
    def best_fits(self) -> bool:
        return fits(self.job, self.found[self.best])


def field_of(job: Job, stack: Stack, stops: Stops) -> Field:
    """The best of all plans of ``job``, those around it, and those of ``stops``. Raises UsageError if no plan is
    legal."""
    searched = search(job, stack, top=1)
    best = searched.best[0]
    rules: dict[Condition, str] = {}
    found = {values(best.plan): best}

    def compute(divided: Plan, stages: Sequence[int], recomputing: Sequence[str]) -> None:
        ((way, chunks),) = divisions(job, {axis: getattr(divided, axis) for axis in DIVIDING})
        for zero, recompute in product(stages, recomputing):
            one = best_way(job, stack, way._replace(zero=zero, recompute=recompute), chunks)
            found.setdefault(values(one.plan), one)

    for divided in _divided(job, stops, rules):
        compute(divided, _stages(divided, stops, stack), RECOMPUTE)
    for near in _neighbours(job, best.plan, rules):
        compute(near, [near.zero], [near.recompute])
    ordered = tuple(found[key] for key in sorted(found))
    return Field(job, stack, ordered, ordered.index(best), searched.searched, rules)


def _neighbours(job: Job, best: Plan, rules: dict[Condition, str]) -> Iterator[Plan]:
    """The legal plans that one slider's move makes of the best; dp follows. Broken rules are noted in ``rules``."""
    for axis, choices in LOOKED_AT.items():
        for choice in choices:
            value = RECOMPUTE[choice] if axis == "recompute" else choice
            plan = best._replace(vp=1, sequence_parallel=False, **{axis: value})  # type: ignore[arg-type]
            plan = plan._replace(dp=max(1, job.cluster.gpus // (plan.tp * plan.pp * plan.cp)))
            if broken := plans.broken(job, plan):
                rules[tuple((name, getattr(plan, name)) for name in broken.axes)] = broken.told
            else:
                yield plan


def best_way(job: Job, stack: Stack, plan: Plan, chunks: Sequence[int]) -> Estimate:
    """``plan`` with that of ``chunks`` that fits and is the fastest; else the leanest: what ``search`` takes."""
    needs, fitting, others = fit(job, stack, plan, chunks)
    steps = of_any_chunks(job, plan, stack)
    return steps.estimate(min(fitting, key=steps.seconds) if fitting else min(others, key=itemgetter(0))[1], needs)


def values(plan: Plan) -> tuple[int, ...]:
    """What the sliders stand at, recompute by its number."""
    return tuple(RECOMPUTE.index(plan.recompute) if axis == "recompute" else getattr(plan, axis) for axis in AXES)


def fixed(plan: Plan) -> dict[str, int | str | bool]:
    """What ``--fix`` says of a plan: all of the sliders' axes; dp follows from the others."""
    return {axis: getattr(plan, axis) for axis in AXES if axis != "dp"}


def _divided(job: Job, stops: Stops, rules: dict[Condition, str]) -> Iterator[Plan]:
    """The legal plans of ``stops``, axis by axis; a rule that is broken ends its branch, and is noted in ``rules``."""
    steps = (("tp", stops.tp), ("pp", stops.pp), ("cp", _cuts(job, stops)), ("micro_batch", stops.micro_batch),
             ("ep", stops.ep if job.model.experts else (1,)))  # fmt: skip

    def further(plan: Plan, known: tuple[str, ...], computed: bool) -> Iterator[Plan]:
        if broken := plans.broken(job, plan, known):
            rules[tuple((axis, getattr(plan, axis)) for axis in broken.axes)] = broken.told
        elif not computed:
            return
        elif known[-1:] == ("cp",):
            yield from further(
                plan._replace(dp=job.cluster.gpus // (plan.tp * plan.pp * plan.cp)), (*known, "dp"), True
            )
        elif len(known) > len(steps):
            yield plan
        else:
            axis, choices = steps[len(known) - ("dp" in known)]
            for choice in sorted({*choices, *LOOKED_AT[axis]}):
                longer = plan._replace(**{axis: choice})  # type: ignore[arg-type]
                yield from further(longer, (*known, axis), computed and choice in choices)

    return further(Plan(), (), True)


def _cuts(job: Job, stops: Stops) -> list[int]:
    """cp, as far as a sequence is long enough for it to be searched."""
    return [cp for cp in stops.cp if cp == 1 or job.model.seq // cp >= POSITIONS_EACH]


def _stages(plan: Plan, stops: Stops, stack: Stack) -> list[int]:
    if stops.thick:
        return [0, 1, 2, 3]
    return [stack.zero, *([3] if plan.pp == 1 and 0 < stack.zero < 3 else [])]


def parts(found: Estimate) -> tuple[float, ...]:
    """Seconds of a step besides compute, in the order of TIMES."""
    exposed = (found.communication[axis] for axis in COMMUNICATING)
    return found.recomputing, found.host, found.bubble, *exposed, found.optimizer


def packed(given: Field) -> dict[str, Any]:
    """Columns of numbers: entry i of each is of plan i."""
    job, found = given.job, given.found
    low, high = LOW_AND_HIGH["mixture" if job.model.experts else "dense"]
    flops = job.model.flops_per_token(job.model.seq) * job.tokens / job.cluster.gpus
    return {
        "batch": job.batch, "seq": job.model.seq, "tokens": job.tokens, "best": given.best, "searched": given.searched,
        "capacity": job.cluster.gpu.memory / GB, "low": low, "high": high,
        "ideal": flops / job.cluster.gpu.peak(job.precision),
        "axes": [list(column) for column in zip(*(values(f.plan) for f in found), strict=True)],
        "vp": [f.plan.vp for f in found],
        "time": [rounded(f.step_time, 4) for f in found],
        "parts": [list(map(rounded, column)) for column in zip(*map(parts, found), strict=True)],
        "memory": [rounded(f.memory / GB) for f in found],
        "kinds": [[rounded(f.memory_by_kind[kind] / GB) for f in found] for kind in KINDS],
        "fits": [int(fits(job, f)) for f in found],
        "rules": [[dict(condition), told] for condition, told in given.rules.items()],
    }  # fmt: skip


def rounded(value: float, digits: int = 3) -> float:
    """So many digits that count: three are shown."""
    return float(f"{value:.{digits}g}") if value else 0.0
