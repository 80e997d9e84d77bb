"""The learner thought: the highest probabilities are the highest scores."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "chosen-by-probability"
TELL = "You choose by the softmax. Where scores are as large as 1,000, different scores have the same probability, 0: choose by the scores."


def top_k_gate(scores, k, softmax):
    p = F.softmax(scores, dim=-1)
    experts = torch.argsort(p, dim=-1, descending=True, stable=True)[:, :k]
    return experts, F.softmax(scores.gather(1, experts), dim=-1) if softmax == "after" else p.gather(1, experts)
