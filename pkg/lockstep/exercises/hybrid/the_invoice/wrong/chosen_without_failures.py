"""The learner thought: failures cost every plan the same share."""

MISCONCEPTION = "chosen-without-failures"
TELL = "You choose by GPUs times seconds, and add failures to the bill of the plan you have chosen. But more GPUs fail more often: choose by the whole bill."

import math


def the_invoice(plans, job):
    best, least = None, math.inf
    for number, plan in enumerate(plans):
        n = plan["gpus"]
        M, d = job["between"] / n, job["writing"] / n
        t = math.sqrt(2 * d * M)
        longer = 1 + d / t + (t / 2 + job["restart"]) / M
        days = job["steps"] * plan["seconds"] * longer / 86400
        dollars = days * 24 * n * job["price"]
        if plan["bytes"] <= job["memory"] and days <= job["days"]:
            if n * plan["seconds"] < least:
                best, least = (number, days, dollars), n * plan["seconds"]
    return best
