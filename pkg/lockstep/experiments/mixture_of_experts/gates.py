"""Gates since 2024: a sigmoid instead of a softmax, and a bias instead of a loss.

    DeepSeek-V3   s = sigmoid(H)   experts: the k highest s + b    weights: s of these, divided by their sum
    Llama 4       s = sigmoid(H)   experts: the k highest H        the token is multiplied by s *before* its expert

The first, and how b moves, is ``experts.bias``. A sigmoid looks at one score alone. So the weight of one expert depends
on the score, with k = 1, too. That no token needs to be dropped is older: Gale et al., "MegaBlocks: Efficient
Sparse Training with Mixture-of-Experts", arXiv:2211.15841, whose products of groups of any size are one kernel.

Source of Llama 4: ``models/llama4/moe.py`` in meta-llama/llama-models at 2b2e5b2.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lockstep.experts.balance import loads
from lockstep.experts.bias import bias_gate, busiest, moved
from lockstep.experts.gate import top_k_gate
from lockstep.tables import Table

EXPERTS, CHOICES, TOKENS = 64, 8, 8192
STEP = 0.005  # of the bias: ours, so that few steps are enough


def llama_gate(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Experts (T, k), and what the token is multiplied by before each of them (T, k)."""
    experts, _ = top_k_gate(scores, k)
    return experts, scores.gather(1, experts).sigmoid()


def today_table(scores: Sequence[float] = (2.0, 1.0, 0.0), bias: Sequence[float] = (0.0, 0.0, 0.4)) -> Table:
    """One token's experts and weights by each gate."""
    H, b = torch.tensor([scores]), torch.tensor([bias])
    ways = [
        ("2017: softmax after the choice", 2, top_k_gate(H, 2)),
        ("Switch: softmax before it", 1, top_k_gate(H, 1, "before")),
        ("DeepSeek-V3: sigmoid, no bias yet", 2, bias_gate(H, 0 * b, 2)),
        (f"DeepSeek-V3: expert {len(bias) - 1} has a bias of {bias[-1]:g}", 2, bias_gate(H, b, 2)),
        ("Llama 4: sigmoid, on the input", 1, llama_gate(H, 1)),
    ]
    rows = [
        [name, str(k), ", ".join(map(str, experts[0].tolist())), ", ".join(f"{w:.2f}" for w in weights[0].tolist())]
        for name, k, (experts, weights) in ways
    ]
    told = ", ".join(f"{score:g}" for score in scores)
    return Table(f"A token with scores {told}", ["gate", "k", "experts", "weights"], rows)


def balanced(steps: Sequence[int], lead: float = 0.5, seed: int = 0) -> list[Tensor]:
    """The loads of the experts in these steps, the bias moving after each. Every step has new tokens; their scores lean
    to some experts: the experts' own means have the standard deviation ``lead``."""
    drawn = torch.Generator().manual_seed(seed)
    means, bias, found = lead * torch.randn(EXPERTS, generator=drawn), torch.zeros(EXPERTS), []
    for step in range(max(steps) + 1):
        experts, _ = bias_gate(means + torch.randn(TOKENS, EXPERTS, generator=drawn), bias, CHOICES)
        load = loads(experts, EXPERTS)
        found += [load] * (step in steps)
        bias = moved(bias, load, STEP)
    return found


def balanced_table(steps: Sequence[int] = (0, 10, 20, 30, 50)) -> Table:
    """How the loads even out."""
    rows = []
    for n, load in zip(steps, balanced(steps), strict=True):
        least = float(load.min() * EXPERTS / load.sum())
        rows.append([str(n), f"{busiest(load):.2f}", f"{least:.2f}"])
    head = ["updates", "busiest expert, times the mean", "idlest, times the mean"]
    told = f"A bias instead of a loss: {EXPERTS} experts, k = {CHOICES}, {TOKENS:,} new tokens a step"
    return Table(told, head, rows)
