"""Twelve plans and why they don't run: the first reason counts, also where there are several, or it is a byte."""

from typing import Any

from lockstep.checks.exercise import Feedback, Values
from lockstep.exercises.arithmetic import Tried, arithmetic
from lockstep.exercises.hybrid import twelve_plans as plans
from lockstep.planner.infeasible import REASONS, held_bytes

TRIED: Tried = {
    "the twelve plans": plans.TWELVE,
    "what doesn't divide": [*plans.DIVISIBILITY, *plans.BATCH],
    "nodes of other sizes": plans.LINK,
    "what doesn't fit": plans.MEMORY,
    "two kinds that need as much": plans.EQUAL,
    "several reasons": plans.several_reasons,
    "memory near the limit": plans.near_the_limit,
    "memory that is just enough, and a byte less": plans.exactly,
    "fewer micro-batches than stages": plans.few_micro_batches,
    "layers that are computed again": plans.computed_again,
    "plans that run": plans.RUNS,
}


def steps(model: Any, cluster: Any, plan: Any) -> str:
    divides = plan["dp"] * plan["micro_batch"]
    rows = [f"{kind} {nbytes / 1e9:,.5g}" for kind, nbytes in held_bytes(model, plan).items()]
    needs = sum(held_bytes(model, plan).values()) / 1e9
    told = f"tp·pp·dp = {plan['tp'] * plan['pp'] * plan['dp']}; dp·b = {divides}; in GB: {', '.join(rows)}"
    return f"{told}; together {needs:,.5g} of {cluster['memory'] / 1e9:,.5g}."


def told(call: Any) -> str:
    """The call, without what is long."""
    model, cluster, plan = call
    sizes = f"{model['layers']} layers of width {model['hidden']:,}, {cluster['gpus']:,} GPUs, {cluster['node']} a node"
    return f"why_infeasible({sizes}, {plan})"


EXERCISE = arithmetic(
    TRIED, number=10, core=False, title="Why doesn't it run?", points=4, minutes=30, parameters="model, cluster, plan",
    reference="lockstep.planner.infeasible:why_infeasible", values=Values(share=1.0),
    feedback=Feedback(answer=f"one of {', '.join(map(repr, REASONS))}", steps=steps, call=told),
)  # fmt: skip
