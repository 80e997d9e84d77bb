"""The learner thought: a tensor of floats is of float64, as in NumPy."""

import torch

MISCONCEPTION = "shares-in-float32"
TELL = "torch.tensor makes float32 of Python's floats: give it dtype=torch.float64, or the dtype of w."


def federated_average(w, models, examples):
    there = [(m, n) for m, n in zip(models, examples) if m is not None]
    total = sum(n for _, n in there)
    if total == 0:
        return w.clone()
    shares = torch.tensor([n / total for _, n in there])
    return torch.stack([m * share for share, (m, _) in zip(shares, there)]).sum(0)
