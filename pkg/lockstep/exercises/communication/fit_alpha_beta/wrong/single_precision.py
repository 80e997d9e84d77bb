"""The learner made tensors of the lists, and torch makes float32."""

import torch

MISCONCEPTION = "single-precision"
TELL = "Your alpha is all but 0. In float32, lstsq takes a column of ones beside sizes of millions for rounding, and drops it: make the tensors with dtype=torch.float64."


def fit_alpha_beta(nbytes, seconds):
    n, t = torch.tensor(nbytes).float(), torch.tensor(seconds)
    solution = torch.linalg.lstsq(torch.stack([torch.ones_like(n), n], 1), t[:, None]).solution
    return solution[0].item(), solution[1].item()
