"""The learner thought: weights are numbers."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "no-gradient"
TELL = "The weights are how the loss reaches the gate: without their gradient, it never learns. Leave out what ends it: detach, item, tolist, no_grad, torch.tensor(...)."


def top_k_gate(scores, k, softmax):
    scores = scores.detach()
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]
    weights = F.softmax(scores.gather(1, experts), dim=-1)
    return experts, weights if softmax == "after" else F.softmax(scores, dim=-1).gather(1, experts)
