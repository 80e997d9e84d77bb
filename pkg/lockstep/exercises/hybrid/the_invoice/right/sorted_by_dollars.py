"""Interruptions a second; the cheapest first."""

import math


def the_invoice(plans, job):
    rows = []
    for number, plan in enumerate(plans):
        gpus = plan["gpus"]
        interruptions = gpus / job["between"]  # a second
        written = job["writing"] / gpus
        every = math.sqrt(2 * written / interruptions)
        seconds = job["steps"] * plan["seconds"]
        seconds += seconds * written / every + seconds * interruptions * (every / 2 + job["restart"])
        rows.append((seconds * gpus / 3600 * job["price"], seconds / 86400, number))
    for dollars, days, number in sorted(rows):
        if days <= job["days"] and plans[number]["bytes"] <= job["memory"]:
            return number, days, dollars
    return None
