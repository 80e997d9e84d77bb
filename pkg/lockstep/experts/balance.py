"""Auxiliary losses that keep the gate from overloading a few experts, and its scores from growing.

    T   tokens        f_i   fraction of the choices that go to expert i: its choices / (T·k)
    E   experts       P_i   its mean probability: the mean over the tokens of softmax(H)_i

    (1) load-balancing loss     E · Σ f_i·P_i               1 if the load is even, E if one expert has everything
    (2) z-loss                  mean of (log Σ exp H_i)²    keeps scores small: exp and softmax stay precise
    (3) importance loss         CV² of Σ_t G_i(t)           the squared coefficient of variation, 0 if all are equal

(1) f_i is a count, so it has no gradient: all of the gradient comes through P_i. ∂/∂P_i is E·f_i, so an expert with a
    higher load is pushed down more. On several ranks f_i is the fraction over the tokens of *all* ranks, which takes
    one all-reduce of E + 1 numbers. Then the ranks' parts add up to the loss of the whole batch, since it is linear in
    P. If each rank used the f_i of its own tokens, *its* tokens would have to be spread evenly: more than is wanted.
    Choices count even if they are dropped by a full expert.

Sources: (1) Fedus et al., "Switch Transformers", arXiv:2101.03961, equations 4 to 6; Lepikhin et al., "GShard",
arXiv:2006.16668, algorithm 1, has it divided by E². f_i over all ranks: Qiu et al., "Demons in the detail: on
implementing load balancing loss", arXiv:2501.11873. (2) Zoph et al., "ST-MoE", arXiv:2202.08906, equation 5.
(3) Shazeer et al., arXiv:1701.06538, equations 6 and 7.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F


def loads(experts: Tensor, E: int) -> Tensor:
    """The number of choices for each expert, from the choices ``experts`` (T, k): (E,), int64."""
    return torch.bincount(experts.flatten(), minlength=E)


def load_balancing_loss(scores: Tensor, experts: Tensor) -> Tensor:
    """(1) for tokens with ``scores`` (T, E) and choices ``experts`` (T, k)."""
    E = scores.shape[1]
    f = loads(experts, E) / experts.numel()
    P = F.softmax(scores, dim=-1).mean(0)
    return E * (f * P).sum()


def z_loss(scores: Tensor) -> Tensor:
    """(2) for ``scores`` (T, E)."""
    return torch.logsumexp(scores, dim=-1).square().mean()


def importance_loss(weights: Tensor, experts: Tensor, E: int) -> Tensor:
    """(3) for the choices ``experts`` (T, k) and their ``weights`` (T, k)."""
    importance = weights.new_zeros(E).index_add(0, experts.flatten(), weights.flatten())
    return importance.var(correction=0) / importance.mean().square()


def parts_of_losses(scores: Tensor, experts: Tensor, group: dist.ProcessGroup | None = None) -> tuple[Tensor, Tensor]:
    """This rank's parts of (1) and (2) for the tokens of all ranks: summed over the ranks they are the losses.

    A rank may have no tokens."""
    E, k = scores.shape[-1], experts.shape[-1]
    counted = torch.cat([loads(experts, E), torch.tensor([len(scores)], device=scores.device)])
    dist.all_reduce(counted, group=group)
    T = counted[-1]
    P = F.softmax(scores, dim=-1).sum(0) / T
    return E * (counted[:-1] / (T * k) * P).sum(), torch.logsumexp(scores, dim=-1).square().sum() / T
