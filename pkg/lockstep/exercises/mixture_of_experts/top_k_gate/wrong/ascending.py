"""The learner thought: argsort gives the best at the end."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "best-one-last"
TELL = "Your choices stand in ascending order. The best one comes first."


def top_k_gate(scores, k, softmax):
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k].flip(1)
    weights = F.softmax(scores.gather(1, experts), dim=-1)
    return experts, weights if softmax == "after" else F.softmax(scores, dim=-1).gather(1, experts)
