"""The learner thought: choices are a set, so sort them by number."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "choices-by-number"
TELL = "Your choices stand in the order of the experts' numbers. The best one comes first."


def top_k_gate(scores, k, softmax):
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k].sort(dim=1).values
    weights = F.softmax(scores.gather(1, experts), dim=-1)
    return experts, weights if softmax == "after" else F.softmax(scores, dim=-1).gather(1, experts)
