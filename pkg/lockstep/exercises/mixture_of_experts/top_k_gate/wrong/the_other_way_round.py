"""The learner thought: "before" the softmax, the k best are chosen."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "the-other-way-round"
TELL = 'You exchange the two: "before" takes the softmax over all E scores before it chooses; "after" chooses, and takes the softmax over the k scores that are left.'


def top_k_gate(scores, k, softmax):
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]
    if softmax == "before":
        return experts, F.softmax(scores.gather(1, experts), dim=-1)
    return experts, F.softmax(scores, dim=-1).gather(1, experts)
