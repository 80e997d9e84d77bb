"""Balance by a bias: it chooses, and doesn't weigh; so there is no second loss that disturbs the first.

    s = sigmoid(H)    experts: the k highest s + b    weights: s of these, divided by their sum
    after a step      b goes down by a constant where an expert got more choices than the mean, up where it got fewer

b has no gradient: the loads of all ranks, one all-reduce of E counts, are all that it follows. It moves by the same
constant however far a load is off. So it takes as many steps as the scores of the experts are apart, and ends by going
to and fro; a smaller constant ends nearer to the mean, later.

DeepSeek-V3 also chooses groups of experts first (``two_stages``), multiplies the weights by a constant, and keeps a
small balancing loss for each sequence.

Sources: Wang et al., "Auxiliary-Loss-Free Load Balancing Strategy for Mixture-of-Experts", arXiv:2408.15664;
"DeepSeek-V3 Technical Report", arXiv:2412.19437, and ``class Gate`` of ``inference/model.py`` in
deepseek-ai/DeepSeek-V3 at 9b4e978.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.experts.balance import loads
from lockstep.experts.gate import top_k_gate


def bias_gate(scores: Tensor, bias: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Experts (T, k) and weights (T, k) of tokens with ``scores`` (T, E) and the experts' ``bias`` (E,)."""
    s = scores.sigmoid()
    experts, _ = top_k_gate(s + bias, k)
    weights = s.gather(1, experts)
    return experts, weights / weights.sum(1, keepdim=True)


def moved(bias: Tensor, load: Tensor, rate: float) -> Tensor:
    """The bias for the next step, after a step with so many choices of each expert, ``load`` (E,)."""
    return bias + rate * torch.sign(load.sum() - len(load) * load).to(bias.dtype)


def balance_by_bias(
    scores: Tensor, bias: Tensor, k: int, rate: float, group: dist.ProcessGroup | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """A step of such a gate on this rank's tokens: their experts and weights, and the bias after it, alike on all
    ranks. A rank may have no tokens."""
    experts, weights = bias_gate(scores, bias, k)
    load = loads(experts, len(bias))
    dist.all_reduce(load, group=group)
    return experts, weights, moved(bias, load, rate)


def busiest(load: Tensor) -> float:
    """The largest load, divided by the mean."""
    return float(load.max() * len(load) / load.sum())
