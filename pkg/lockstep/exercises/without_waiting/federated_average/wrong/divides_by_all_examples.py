"""The learner thought: the weights are n_k / n, and n is the number of all examples."""

import torch

MISCONCEPTION = "divides-by-all"
TELL = "You divide by the examples of all clients, also of those that dropped out: their share is missing in the sum, and the model shrinks towards 0. Divide by the examples of those that came back."


def federated_average(w, models, examples):
    back = [(model, n) for model, n in zip(models, examples) if model is not None]
    if not sum(n for _, n in back):
        return w.clone()
    total = sum(examples)
    return sum(n / total * model for model, n in back)
