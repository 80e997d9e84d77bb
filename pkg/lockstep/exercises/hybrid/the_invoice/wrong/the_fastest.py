"""The learner thought: the fastest plan is the cheapest."""

MISCONCEPTION = "takes-the-fastest"
TELL = "You take the fastest plan. More GPUs are faster, and you pay for all of them."

import math


def the_invoice(plans, job):
    best = None
    for number, plan in enumerate(plans):
        n = plan["gpus"]
        M, d = job["between"] / n, job["writing"] / n
        t = math.sqrt(2 * d * M)
        longer = 1 + d / t + (t / 2 + job["restart"]) / M
        days = job["steps"] * plan["seconds"] * longer / 86400
        dollars = days * 24 * n * job["price"]
        if plan["bytes"] <= job["memory"] and days <= job["days"]:
            if best is None or days < best[1]:
                best = number, days, dollars
    return best
