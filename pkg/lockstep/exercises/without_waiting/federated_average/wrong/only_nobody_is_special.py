"""The learner thought: the only special case is that nobody reports."""

import torch

MISCONCEPTION = "no-examples"
TELL = "Where clients have come back, but have no examples, you divide 0 by 0, and get no numbers. The server keeps its own model then: return the values of w."


def federated_average(w, models, examples):
    if all(model is None for model in models):
        return w.clone()
    total, n_total = torch.zeros_like(w), torch.zeros(())
    for model, n in zip(models, examples):
        if model is not None:
            total, n_total = total + n * model, n_total + n
    return total / n_total
