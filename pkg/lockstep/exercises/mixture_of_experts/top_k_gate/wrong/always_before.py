"""The learner thought: the softmax makes probabilities of all scores."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "always-before"
TELL = 'This is the softmax over all E scores, for "after", too. There it is over the k scores of the choices: their weights add up to 1.'


def top_k_gate(scores, k, softmax):
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]
    return experts, F.softmax(scores, dim=-1).gather(1, experts)
