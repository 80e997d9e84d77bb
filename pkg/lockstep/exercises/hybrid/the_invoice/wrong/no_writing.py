"""The learner thought: checkpoints are written beside the training."""

MISCONCEPTION = "no-writing"
TELL = "You leave out the time in which checkpoints are written: d of every t seconds."

import math


def the_invoice(plans, job):
    best = None
    for number, plan in enumerate(plans):
        n = plan["gpus"]
        M, d = job["between"] / n, job["writing"] / n
        t = math.sqrt(2 * d * M)
        longer = 1 + (t / 2 + job["restart"]) / M
        days = job["steps"] * plan["seconds"] * longer / 86400
        dollars = days * 24 * n * job["price"]
        if plan["bytes"] <= job["memory"] and days <= job["days"]:
            if best is None or dollars < best[2]:
                best = number, days, dollars
    return best
