"""The learner computed the mean in whole numbers, by //."""

import torch
import torch.distributed as dist

MISCONCEPTION = "mean-cut"
TELL = "You compare with the mean cut to a whole number. An expert that has just that many has fewer than the mean: its bias goes up."


def balance_by_bias(scores, bias, k, rate, group=None):
    with torch.no_grad():
        E = scores.shape[1]
        s = torch.sigmoid(scores)
        choices = torch.sort(s + bias, dim=1, descending=True, stable=True)[1][:, :k].clone()
        weights = s.gather(1, choices)
        weights = weights / weights.sum(1, keepdim=True)
        counts = torch.bincount(choices.reshape(-1), minlength=E)
        dist.all_reduce(counts, group=group)
        mean = counts.sum() // E
        return choices, weights, bias - rate * torch.sign(counts - mean)
