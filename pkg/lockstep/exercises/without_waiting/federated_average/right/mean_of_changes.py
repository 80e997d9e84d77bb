"""How far each client has gone, averaged and added to w."""

import torch


def federated_average(w, models, examples):
    weights = torch.tensor([n if model is not None else 0 for model, n in zip(models, examples)], dtype=w.dtype)
    weights /= max(1, weights.sum())
    moved = w.clone()
    for share, model in zip(weights, models):
        if model is not None:
            moved += share * (model - w)
    return moved
