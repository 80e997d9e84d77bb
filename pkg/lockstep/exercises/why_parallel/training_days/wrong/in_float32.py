"""The learner computed with torch tensors, which are float32 by default."""

import torch

MISCONCEPTION = "single-precision"


def training_days(params, tokens, devices, peak, utilisation):
    work = 6 * torch.tensor(float(params)) * torch.tensor(float(tokens))
    rate = torch.tensor(float(devices)) * torch.tensor(float(peak)) * utilisation
    return (work / rate / 86400).item()
