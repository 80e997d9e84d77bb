"""The learner thought: a token's weights always add up to 1."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "always-after"
TELL = 'This is the softmax over the k scores of the choices, for "before", too. There it is over all E scores: the k weights add up to less than 1.'


def top_k_gate(scores, k, softmax):
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]
    return experts, F.softmax(scores.gather(1, experts), dim=-1)
