"""The learner thought: the lost share is one of all the time."""

MISCONCEPTION = "lost-share"
TELL = "You divide by 1 - loss. Here each second of training takes 1 + loss seconds."

import math


def the_invoice(plans, job):
    best = None
    for number, plan in enumerate(plans):
        n = plan["gpus"]
        M, d = job["between"] / n, job["writing"] / n
        t = math.sqrt(2 * d * M)
        longer = 1 / (1 - d / t - (t / 2 + job["restart"]) / M)
        days = job["steps"] * plan["seconds"] * longer / 86400
        dollars = days * 24 * n * job["price"]
        if plan["bytes"] <= job["memory"] and days <= job["days"]:
            if best is None or dollars < best[2]:
                best = number, days, dollars
    return best
