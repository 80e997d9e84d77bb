"""The learner thought: the scores that are not chosen become 0 before the softmax."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "zeros-in-the-softmax"
TELL = 'For "after" you set the other scores to 0 and take the softmax over all E: a score of 0 has a share, too. Take the k scores alone, or set the others to minus infinity.'


def top_k_gate(scores, k, softmax):
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]
    if softmax == "before":
        return experts, F.softmax(scores, dim=-1).gather(1, experts)
    kept = torch.zeros_like(scores).scatter(1, experts, 1.0)
    return experts, F.softmax(scores * kept, dim=-1).gather(1, experts)
