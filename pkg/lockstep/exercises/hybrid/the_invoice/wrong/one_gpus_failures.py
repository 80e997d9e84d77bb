"""The learner thought: `between` is the time between two interruptions."""

MISCONCEPTION = "between-of-one-gpu"
TELL = "You take the time between interruptions of one GPU. With n of them there are n times as many interruptions."

import math


def the_invoice(plans, job):
    best = None
    for number, plan in enumerate(plans):
        n = plan["gpus"]
        M, d = job["between"], job["writing"] / n
        t = math.sqrt(2 * d * M)
        longer = 1 + d / t + (t / 2 + job["restart"]) / M
        days = job["steps"] * plan["seconds"] * longer / 86400
        dollars = days * 24 * n * job["price"]
        if plan["bytes"] <= job["memory"] and days <= job["days"]:
            if best is None or dollars < best[2]:
                best = number, days, dollars
    return best
