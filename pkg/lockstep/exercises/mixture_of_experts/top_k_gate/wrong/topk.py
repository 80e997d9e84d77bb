"""The learner thought: torch.topk gives the k highest scores."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "topk-of-equals"
TELL = "torch.topk promises nothing about equal scores. A stable sort keeps them in their order: torch.argsort(scores, dim=1, descending=True, stable=True)."


def top_k_gate(scores, k, softmax):
    best, experts = torch.topk(scores, k, dim=-1)
    weights = F.softmax(best, dim=-1) if softmax == "after" else F.softmax(scores, dim=-1).gather(1, experts)
    return experts, weights
