"""The learner thought: the weights are examples / sum(examples), whoever reports."""

import torch

MISCONCEPTION = "divides-by-all"
TELL = "You divide by the examples of all clients, also of those that dropped out: their share is missing in the sum, and the model shrinks towards 0. Divide by the examples of those that came back; where these have none, return the values of w."
VARIANTS = ["divides_by_all_examples"]


def federated_average(w, models, examples):
    total = sum(examples)
    if total == 0 or all(model is None for model in models):
        return w.clone()
    result = torch.zeros_like(w)
    for model, n in zip(models, examples):
        if model is not None:
            result += n / total * model
    return result
