"""The learner thought: every rank has x and all weights, so nobody has to talk."""

from torch.nn import functional as F

MISCONCEPTION = "not-its-part"
TELL = (
    "Every rank computes all of it. That is right, and K times the work: each is to compute with its part"
    " of A and B only."
)


def parallel_mlp(x, A, a, B, b, group=None):
    return F.gelu(x @ A + a) @ B + b
