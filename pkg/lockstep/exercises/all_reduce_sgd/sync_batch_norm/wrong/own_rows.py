"""The learner thought: each rank normalises its own rows."""

import torch

MISCONCEPTION = "own-statistics"
TELL = "You normalise by the mean and the variance of this rank's rows. They should be those of all ranks' rows."


def sync_batch_norm(x, eps, group=None):
    variance, mean = torch.var_mean(x, dim=0, correction=0)
    return (x - mean) / (variance + eps).sqrt()
