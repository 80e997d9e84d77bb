"""The learner thought: the cheapest is the cheapest."""

MISCONCEPTION = "ignores-deadline"
TELL = "You don't look at the deadline."

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
        if plan["bytes"] <= job["memory"]:
            if best is None or dollars < best[2]:
                best = number, days, dollars
    return best
