"""The learner thought: the fewest GPUs cost least."""

MISCONCEPTION = "takes-the-fewest"
TELL = "You take the fewest GPUs that are in time. They may have to recompute to fit, or be the dearer ones for another reason: compare dollars."

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
            if best is None or (n, dollars) < (plans[best[0]]["gpus"], best[2]):
                best = number, days, dollars
    return best
