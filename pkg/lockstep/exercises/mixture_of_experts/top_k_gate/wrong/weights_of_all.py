"""The learner thought: the gate is a vector of E weights, most of them 0."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "weights-of-all"
TELL = "You return a weight for each expert. Return those of the k choices alone, in the order of the choices."


def top_k_gate(scores, k, softmax):
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]
    left = torch.full_like(scores, -torch.inf).scatter(1, experts, scores.gather(1, experts))
    kept = torch.zeros_like(scores).scatter(1, experts, 1.0)
    return experts, F.softmax(left, dim=-1) if softmax == "after" else F.softmax(scores, dim=-1) * kept
