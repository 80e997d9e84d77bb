"""The learner thought: token by token."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "too-many-calls"
TELL = "Let each call work on all tokens at once: sort along dim=1, and gather along dim=1."


def top_k_gate(scores, k, softmax):
    experts, weights = [], []
    for row in scores:
        chosen = torch.argsort(row, descending=True, stable=True)[:k]
        experts.append(chosen)
        weights.append(F.softmax(row[chosen], dim=0) if softmax == "after" else F.softmax(row, dim=0)[chosen])
    if not experts:
        return torch.zeros(0, k, dtype=torch.int64), scores[:, :k]
    return torch.stack(experts), torch.stack(weights)
