"""The learner thought: a sum over nobody is 0."""

import torch

MISCONCEPTION = "zero-for-nobody"
TELL = "Where nobody has come back, or nobody with examples, you return zeros: all that was learnt is lost. The server keeps its own model, w."


def federated_average(w, models, examples):
    total, n_total = torch.zeros_like(w), 0
    for model, n in zip(models, examples):
        if model is not None:
            total, n_total = total + n * model, n_total + n
    return total / max(1, n_total)
