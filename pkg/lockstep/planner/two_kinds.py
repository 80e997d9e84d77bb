"""A pipeline on GPUs of two kinds: who waits for whom, and how unequal shares mend it.

    T_i  seconds of a micro-batch on stage i: its layers times the seconds of a layer on its kind of GPU

    one pipeline across both     (m - 1)·max T_i + sum T_i      the slowest stage sets the pace: fewer layers for it
    a pipeline on each           max over them                  fewer micro-batches for the slow one

With equal stages this is the planner's m·T + (p - 1)·T (``step``). A tensor group is of one kind; messages, the sum of
gradients and the optimizer's step are the slower kind's. A framework that balances models over GPUs of several kinds:
Whale (Jia et al., USENIX ATC 2022, arXiv:2011.09208).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lockstep.errors import UsageError
from lockstep.planner.plans import Job, Plan
from lockstep.planner.stacks import Stack
from lockstep.planner.step import Steps, of_any_chunks


class Pace(NamedTuple):
    """Seconds on one kind of GPU: of a layer and micro-batch, forward and backward; of the output for a micro-batch; of
    what comes once a step, or does not depend on layers (messages, sum of gradients, optimizer)."""

    layer: float
    output: float
    rest: float


def pace(job: Job, plan: Plan, stack: Stack) -> Pace:
    """That of ``job.cluster``'s GPUs. ``plan`` has one chunk a stage."""
    steps: Steps = of_any_chunks(job, plan, stack)
    dp, _, messages, _, _ = steps.exposed(1)
    rest = dp + messages + steps.update
    stages = (steps.m + plan.pp - 1) * steps.each
    return Pace(steps.each * plan.pp / job.model.all_layers, (steps.seconds(1) - stages - rest) / steps.m, rest)


def across(kinds: Sequence[Pace], layout: Sequence[int], m: int) -> float:
    """Seconds of a step of ``m`` micro-batches on a pipeline whose stage i has ``layout[i]`` layers on ``kinds[i]``."""
    if len(kinds) != len(layout):
        raise UsageError(f"{len(kinds)} stages have no {len(layout)} parts.", "Give a number of layers for each stage.")
    times = [kind.layer * layers for kind, layers in zip(kinds, layout, strict=True)]
    times[-1] += kinds[-1].output
    return (m - 1) * max(times) + sum(times) + max(kind.rest for kind in kinds)


def layout_by_speed(kinds: Sequence[Pace], layers: int) -> tuple[int, ...]:
    """Layers of each stage, at least one, so that the slowest stage takes least: one after another to the stage that
    would then be done first."""
    if layers < len(kinds):
        raise UsageError(f"{layers} layers are too few for {len(kinds)} stages.", "Each stage has one.")
    found = [1] * len(kinds)
    ends = [0.0] * (len(kinds) - 1) + [kinds[-1].output]
    for _ in range(layers - len(kinds)):
        after = [kind.layer * (n + 1) + end for kind, n, end in zip(kinds, found, ends, strict=True)]
        found[after.index(min(after))] += 1
    return tuple(found)


def shares_by_speed(seconds: Sequence[float], stages: int, m: int) -> tuple[int, ...]:
    """How many of ``m`` micro-batches each pipeline of so many equal stages gets, at least one, where a stage takes so
    many ``seconds`` for one. Filling the pipeline takes as long as stages - 1 more of them."""
    if m < len(seconds):
        raise UsageError(f"{m} micro-batches are too few for {len(seconds)} pipelines.", "Each gets one.")
    found = [1] * len(seconds)
    for _ in range(m - len(seconds)):
        after = [each * (n + stages) for each, n in zip(seconds, found, strict=True)]
        found[after.index(min(after))] += 1
    return tuple(found)
