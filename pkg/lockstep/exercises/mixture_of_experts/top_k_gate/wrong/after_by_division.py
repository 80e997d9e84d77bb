"""The learner thought: the chosen probabilities, divided by their sum: that is the softmax over k, so "before", too."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "always-after"
TELL = 'This is the softmax over the k scores of the choices, for "before", too. There it is over all E scores: the k weights add up to less than 1.'
VARIANTS = ["always_after"]


def top_k_gate(scores, k, softmax):
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]
    p = F.softmax(scores, dim=-1).gather(1, experts)
    return experts, p / p.sum(dim=-1, keepdim=True)
