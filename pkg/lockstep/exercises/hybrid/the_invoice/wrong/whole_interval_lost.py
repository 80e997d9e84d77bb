"""The learner thought: an interruption loses all since the checkpoint: t."""

MISCONCEPTION = "whole-interval-lost"
TELL = "You count a whole interval as lost. Interruptions come at any time: half of it is lost on average."

import math


def the_invoice(plans, job):
    best = None
    for number, plan in enumerate(plans):
        n = plan["gpus"]
        M, d = job["between"] / n, job["writing"] / n
        t = math.sqrt(2 * d * M)
        longer = 1 + d / t + (t + job["restart"]) / M
        days = job["steps"] * plan["seconds"] * longer / 86400
        dollars = days * 24 * n * job["price"]
        if plan["bytes"] <= job["memory"] and days <= job["days"]:
            if best is None or dollars < best[2]:
                best = number, days, dollars
    return best
