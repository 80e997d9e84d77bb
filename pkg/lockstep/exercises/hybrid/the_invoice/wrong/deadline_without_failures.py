"""The learner thought: the deadline is for the training itself."""

MISCONCEPTION = "deadline-without-failures"
TELL = "You hold the deadline against the days without failures. Your bill has them, so does the calendar."

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
        if plan["bytes"] <= job["memory"] and days / longer <= job["days"]:
            if best is None or dollars < best[2]:
                best = number, days, dollars
    return best
