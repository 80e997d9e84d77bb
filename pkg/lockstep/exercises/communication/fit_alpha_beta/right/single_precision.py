"""In float32, which is enough for this formula."""

import torch


def fit_alpha_beta(nbytes, seconds):
    n, t = torch.tensor(nbytes).float(), torch.tensor(seconds)
    beta = (len(n) * (n * t).sum() - n.sum() * t.sum()) / (len(n) * (n * n).sum() - n.sum() ** 2)
    return t.mean() - beta * n.mean(), beta
