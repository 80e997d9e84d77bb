"""numpy's weighted average."""

import numpy as np
import torch


def federated_average(w, models, examples):
    back = [i for i, model in enumerate(models) if model is not None]
    weights = [examples[i] for i in back]
    if sum(weights) == 0:
        return torch.tensor(w.numpy().copy())
    return torch.tensor(np.average([models[i].numpy() for i in back], axis=0, weights=weights))
