"""The learner thought: float32 holds seven digits, and a measurement has three."""

import torch

MISCONCEPTION = "single-precision"
TELL = (
    "It is right where sizes are far apart, and wrong where they are close together: as float32, their times differ in "
    "the last digits alone. So it is with float32 anywhere. torch.tensor makes it of a list of floats: give it "
    "dtype=torch.float64."
)
VARIANTS = ["single_precision_normal_equations"]


def fit_alpha_beta(nbytes, seconds):
    n, t = torch.tensor(nbytes).float(), torch.tensor(seconds)
    beta = (len(n) * (n * t).sum() - n.sum() * t.sum()) / (len(n) * (n * n).sum() - n.sum() ** 2)
    return t.mean() - beta * n.mean(), beta
