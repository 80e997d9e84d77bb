"""The learner thought: softmax is exp, divided by the sum."""

import torch

MISCONCEPTION = "exp-overflows"
TELL = "exp(1,000) is infinite. Subtract the largest score before exp, or call F.softmax, which does."


def top_k_gate(scores, k, softmax):
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]
    chosen = scores.gather(1, experts).exp()
    over = chosen if softmax == "after" else scores.exp()
    return experts, chosen / over.sum(dim=-1, keepdim=True)
