"""The learner thought: the average is the mean of the models."""

import torch

MISCONCEPTION = "unweighted"
TELL = "Each model that came back counts alike here. A client with many examples should count as often as it has them."


def federated_average(w, models, examples):
    back = [model for model in models if model is not None]
    if not back or not sum(n for model, n in zip(models, examples) if model is not None):
        return w.clone()
    return torch.stack(back).mean(dim=0)
