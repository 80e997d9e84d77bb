"""A stable sort of the scores turned round, and minus infinity for those that are not chosen."""

import torch


def top_k_gate(scores, k, softmax):
    order = torch.sort(-scores, dim=1, stable=True).indices
    experts, others = order[:, :k], order[:, k:]
    left = scores.scatter(1, others, -torch.inf) if softmax == "after" else scores
    return experts, torch.softmax(left, dim=1).gather(1, experts)
