"""Orders and fields of plans on which shortcuts cost money, and how an answer stands beside the best bill."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

from lockstep.checks.numbers import apart
from lockstep.checks.run_faults import parts
from lockstep.checks.values import told
from lockstep.exercises.arithmetic import Calls
from lockstep.planner import offers
from lockstep.planner.offers import Offer, Order, bill, feasible, the_invoice
from lockstep.show.quantities import money

CLOSE = 1e-6  # of days and dollars
RIGHT, NEAR = 1e-6, 0.02  # dollars above the best, as a share
H100S = (256, 512, 768, 1024)
TOKENS = {"llama3-8b": 1e13, "llama3-70b": 2e12}


@cache
def _field(model: str, batch: int) -> list[Offer]:
    return offers.field(model, "dgx-h100", H100S, batch)


def rented(model: str, batch: int, dice: Random) -> Calls:
    """Some of the field, in random order, with three deadlines: one that the cheapest plan keeps without failures, and
    not with them; one that no plan of fewer than 768 GPUs keeps; and one that all keep, where the fewest GPUs are
    left with dear plans only."""
    job = offers.job(model, "dgx-h100", batch, TOKENS[model] * dice.uniform(0.5, 3), 1e9, dice.uniform(1.5, 4))
    plans = [dict(plan) for plan in dice.sample(_field(model, batch), 300)]
    days, dollars, failures = bill(plans[_cheapest(plans, job)], job)
    of_768 = [plan for plan in plans if plan["gpus"] == 768]
    late = {**job, "days": days * (1 - failures / dollars / 2)}
    soon = {**job, "days": 1.001 * bill(of_768[_cheapest(of_768, job)], job)[0]}
    dear = [p for p in plans if p["gpus"] > H100S[0] or bill(p, job)[1] > 1.1 * dollars]
    more = {**job, "days": 4 * days}
    return [(plans, late), (plans, soon), (dear, more)]


def _cheapest(plans: Sequence[Offer], job: Order) -> int:
    found = the_invoice(plans, job)
    return found[0] if found else 0


def scaled(dice: Random) -> Calls:
    """As the text has it: the tokens that the best 1,024 GPUs train in a month, and a deadline of 30 days."""
    plans, calls = [dict(plan) for plan in _field("llama3-70b", 1536)], []
    dice.shuffle(plans)
    for month in (0.45, 0.93):
        job = offers.job("llama3-70b", "dgx-h100", 1536, 1e12, 1e9, 2.5)
        fastest = min(bill(p, job)[0] for p in plans if feasible(p, job))
        calls.append((plans, {**job, "steps": job["steps"] * 30 * month / fastest, "days": 30.0}))
    return calls


def often(dice: Random) -> Calls:
    """Ten times as many interruptions, of an hour each: the plan that is cheapest without failures has 1,024 GPUs, and
    fewer are cheaper with them."""
    job = offers.job("llama3-8b", "dgx-h100", 1536, 1e13 * dice.uniform(0.5, 3), 1e9, dice.uniform(1.5, 4))
    job |= {"between": job["between"] / 10, "restart": 3600.0}
    fitting = [plan for plan in _field("llama3-8b", 1536) if plan["bytes"] <= job["memory"]]
    least = min(plan["gpus"] * plan["seconds"] for plan in fitting if plan["gpus"] == H100S[-1])
    plans = [dict(p) for p in fitting if p["gpus"] == H100S[-1] or p["gpus"] * p["seconds"] > least]
    dice.shuffle(plans)
    return [(plans, job)]


def published(dice: Random) -> Calls:
    """What was measured, in random order."""
    calls = []
    for batch in (32, 128):
        plans = offers.measured(batch)
        dice.shuffle(plans)
        order = offers.order(dice.randint(3, 9) * 1e4, 162e9, offers.PUBLISHED_MEMORY, 1e4, dice.uniform(1, 3))
        calls.append((plans, order))
    return calls


def none_left(dice: Random) -> Calls:
    plans, job = rented("llama3-8b", 1536, dice)[0]
    return [(plans, {**job, "days": job["days"] / 50}), (plans, {**job, "memory": 1e9})]


def beside_the_best(plans: Sequence[Offer], job: Order, answer: Any) -> tuple[float, str]:
    """By which share it costs more than the best, and that in words; infinite for what isn't an answer."""
    best, given = the_invoice(plans, job), parts(answer)
    if best is None or answer is None:
        if best is None and answer is None:
            return 0.0, ""
        if best is None:
            return float("inf"), f"it returns {told(answer)}, and no plan both fits and is in time: None is wanted."
        return float("inf"), f"it returns None, and plan {best[0]} fits and is in time: {said(plans[best[0]], job)}."
    if given is None or len(given) != 3 or type(given[0]) is not int or not 0 <= given[0] < len(plans):
        return float("inf"), f"it returns {told(answer)}; (number, days, dollars) is wanted."
    plan = plans[given[0]]
    days, dollars, failures = bill(plan, job)
    if wrong := _numbers(given, (days, dollars), failures):
        return float("inf"), f"for plan {given[0]}, {said(plan, job)}, {wrong}"
    least = bill(plans[best[0]], job)
    if plan["bytes"] > job["memory"]:
        over = f"needs {plan['bytes'] / 1e9:,.1f} GB on a GPU that has {job['memory'] / 1e9:,.1f}"
        return float("inf"), f"plan {given[0]}, {said(plan, job)}, {over}."
    if days > job["days"]:
        return float("inf"), f"plan {given[0]}, {said(plan, job)}, is late: the deadline is {job['days']:.2f} days."
    regret = dollars / least[1] - 1
    longer = days - least[0]
    time = f"{abs(longer):.1f} days {'more' if longer > 0 else 'less'}"
    more = f"your plan costs {money(dollars - least[1])} more than the best, and takes {time}"
    return regret, f"{more}. Yours: {said(plan, job)}; the best: plan {best[0]}, {said(plans[best[0]], job)}."


def _numbers(given: Sequence[Any], wanted: tuple[float, float], failures: float) -> str:
    """What is wrong about days or dollars."""
    for name, value, want in zip(("days", "dollars"), given[1:], wanted, strict=True):
        try:
            off = abs(float(value) / want - 1) > CLOSE
        except (TypeError, ValueError):
            return f"{name} are {told(value)}; a number is wanted."
        if off:
            there, right = apart(float(value), want)
            alone = want * (1 - failures / wanted[1])
            plain = " That is without failures." if abs(float(value) / alone - 1) < CLOSE else ""
            return f"the {name} are {right}, not {there}.{plain}"
    return ""


def said(plan: Offer, job: Order) -> str:
    days, dollars, _ = bill(plan, job)
    axes = f"dp {plan['dp']}, tp {plan['tp']}, pp {plan['pp']}, micro_batch {plan['micro_batch']}"
    return f"{plan['gpus']:,} GPUs ({axes}, recompute {plan['recompute']}), {days:.1f} days, {money(dollars)}"
