"""Which of the plans that one can rent is the cheapest that is in time: the field of plans, and its bills.

    plan   gpus, dp, tp, pp, micro_batch, recompute; seconds of a step, bytes on the fullest GPU; of the seconds, where
           they are known, recomputing, communication, bubble
    job    steps, memory [bytes], days [the deadline], price [dollars an hour of a GPU], between, writing, restart [s]

``invoice`` says how failures are counted: between and writing are those of one GPU alone, and n GPUs divide them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from lockstep.cost.loading import best_interval, lost
from lockstep.planner import clusters, models, plans, stacks
from lockstep.planner.cases import everything
from lockstep.planner.invoice import CHECKPOINT_BYTES, GPU_SECONDS_BETWEEN, RESTART, SECONDS_PER_DAY, STORAGE
from lockstep.planner.plans import RECOMPUTE, Job, Plan
from lockstep.planner.search import divisors
from lockstep.planner.step import Estimate, estimate

Offer = dict[str, Any]
Order = dict[str, float]
STACK = "bridge-26.06"
MICRO_BATCHES = (1, 2, 4)
PUBLISHED_MEMORY = 80 * clusters.GIB


def estimates(model: str, cluster: str, gpus: Sequence[int], batch: int) -> list[Estimate]:
    """All legal plans on each number of ``gpus``, ZeRO-1, without interleaving, context parallelism or experts."""
    found, shape = [], models.find(model)
    for n in gpus:
        job = Job(shape, clusters.find(f"{cluster} x {n} gpus"), batch)
        for tp, pp, micro, way in product((1, 2, 4, 8), divisors(n), MICRO_BATCHES, RECOMPUTE):
            plan = Plan(max(1, n // (tp * pp)), tp, pp, micro_batch=micro, recompute=way, sequence_parallel=tp > 1)
            if not plans.illegal(job, plan):
                found.append(estimate(job, plan, stacks.STACKS[STACK]))
    return found


def offer(found: Estimate) -> Offer:
    p = found.plan
    axes = {"gpus": p.gpus, "dp": p.dp, "tp": p.tp, "pp": p.pp, "micro_batch": p.micro_batch, "recompute": p.recompute}
    communication = sum(found.communication.values())
    spent = {"recomputing": found.recomputing, "communication": communication, "bubble": found.bubble}
    return axes | {"seconds": found.step_time, "bytes": found.memory} | spent


def field(model: str, cluster: str, gpus: Sequence[int], batch: int) -> list[Offer]:
    """What can be rented, as the planner sees it. Raises UsageError for an unknown model or cluster."""
    return [offer(found) for found in estimates(model, cluster, gpus, batch)]


def measured(batch: int) -> list[Offer]:
    """Narayanan et al., SC 2021, figure 13: 162 billion parameters on 64 A100s by tp and pp, as it was measured (and
    read off the figure); all fitted."""
    rows = [case for case in everything() if case.series == f"13 GBS={batch}"]
    return [
        {"gpus": 64, "dp": 1, "tp": case.fixed["tp"], "pp": case.fixed["pp"], "micro_batch": 1, "recompute": "full",
         "seconds": case.job.tokens / case.tokens_per_second / 64, "bytes": PUBLISHED_MEMORY}
        for case in rows
    ]  # fmt: skip


def job(model: str, cluster: str, batch: int, tokens: float, days: float, price: float) -> Order:
    """A training of ``tokens`` tokens within ``days`` days, at ``price`` dollars an hour of a GPU."""
    shape = models.find(model)
    memory = clusters.find(cluster).gpu.memory
    return order(tokens / batch / shape.seq, shape.parameters, memory, days, price)


def order(steps: float, parameters: float, memory: float, days: float, price: float) -> Order:
    return {
        "steps": steps, "memory": memory, "days": days, "price": price, "between": GPU_SECONDS_BETWEEN,
        "writing": CHECKPOINT_BYTES * parameters / STORAGE, "restart": RESTART,
    }  # fmt: skip


def bill(plan: Offer, job: Order) -> tuple[float, float, float]:
    """(days, dollars, dollars of them for failures and checkpoints)."""
    between, writing = job["between"] / plan["gpus"], job["writing"] / plan["gpus"]
    loss = lost(best_interval(writing, between), writing, between, job["restart"])
    days = job["steps"] * plan["seconds"] * (1 + loss) / SECONDS_PER_DAY
    dollars = days * 24 * plan["gpus"] * job["price"]
    return days, dollars, dollars * loss / (1 + loss)


SPENT = ("recomputing", "communication", "bubble")  # of the seconds, where a plan says so


def parts(plan: Offer, job: Order) -> dict[str, float]:
    """What the dollars of its bill are for."""
    _, dollars, failures = bill(plan, job)
    by_part = {name: (dollars - failures) * plan.get(name, 0.0) / plan["seconds"] for name in SPENT}
    return {"computing": dollars - failures - sum(by_part.values()), **by_part, "failures": failures}


def feasible(plan: Offer, job: Order) -> bool:
    return bool(plan["bytes"] <= job["memory"] and bill(plan, job)[0] <= job["days"])


def the_invoice(plans: Sequence[Offer], job: Order) -> tuple[int, float, float] | None:
    """(number, days, dollars) of the cheapest plan that fits and is in time; None if none is."""
    bills = [(bill(plan, job)[1], i) for i, plan in enumerate(plans) if feasible(plan, job)]
    if not bills:
        return None
    dollars, number = min(bills)
    return number, bill(plans[number], job)[0], dollars
