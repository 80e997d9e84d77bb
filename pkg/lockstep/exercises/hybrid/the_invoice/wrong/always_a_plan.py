"""The learner thought: some plan fits."""

MISCONCEPTION = "always-a-plan"
TELL = "Where no plan both fits and is in time, you return one that you haven't looked at. None is wanted."

import math


def the_invoice(plans, job):
    best = 0, 0.0, math.inf
    for number, plan in enumerate(plans):
        n = plan["gpus"]
        M, d = job["between"] / n, job["writing"] / n
        t = math.sqrt(2 * d * M)
        longer = 1 + d / t + (t / 2 + job["restart"]) / M
        days = job["steps"] * plan["seconds"] * longer / 86400
        dollars = days * 24 * n * job["price"]
        if plan["bytes"] <= job["memory"] and days <= job["days"]:
            if dollars < best[2]:
                best = number, days, dollars
    return best
