"""The learner thought: someone will have answered with an example."""

import torch

MISCONCEPTION = "divides-by-zero"
TELL = "Where nobody with examples has come back, you divide 0 by 0, and get no numbers. The server keeps its own model then: return the values of w."


def federated_average(w, models, examples):
    total, n_total = torch.zeros_like(w), torch.zeros(())
    for model, n in zip(models, examples):
        if model is not None:
            total, n_total = total + n * model, n_total + n
    return total / n_total
