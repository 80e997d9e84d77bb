"""All plans at once."""

import torch


def the_invoice(plans, job):
    gpus = torch.tensor([p["gpus"] for p in plans], dtype=torch.float64)
    held = torch.tensor([p["bytes"] for p in plans], dtype=torch.float64)
    seconds = torch.tensor([p["seconds"] for p in plans], dtype=torch.float64)
    M, d = job["between"] / gpus, job["writing"] / gpus
    t = (2 * d * M).sqrt()
    days = job["steps"] * seconds * (1 + d / t + (t / 2 + job["restart"]) / M) / 86400
    dollars = (days * 24 * gpus * job["price"]).where((held <= job["memory"]) & (days <= job["days"]), torch.inf)
    best = int(dollars.argmin())
    return None if dollars[best].isinf() else (best, float(days[best]), float(dollars[best]))
