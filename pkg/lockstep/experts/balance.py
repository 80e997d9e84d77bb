"""Losses that keep a gate from sending everything to a few experts, and its scores from growing.

    T   tokens        f_i   the share of expert i in the tokens: its choices / (T·k)
    E   experts       P_i   its mean probability: the mean over the tokens of softmax(H)_i

    (1) load-balancing loss     E · Σ f_i·P_i               1 if all experts have as much, E if one has everything
    (2) z-loss                  mean of (log Σ exp H_i)²    small scores: exp and softmax stay precise
    (3) importance loss         CV² of Σ_t G_i(t)           the squared coefficient of variation, 0 if all weigh as much

(1) f_i is counted, so it has no gradient: all of it comes through P_i. ∂/∂P_i is E·f_i: who has more than others is
    pushed down by more. On several ranks f_i is the share in the tokens of *all* ranks: one all-reduce of E + 1
    numbers. Then the ranks' parts add up to the loss of the whole batch, because it is linear in P. With f_i of its own
    tokens, each rank asks that *its* tokens are spread evenly, which is more than was wanted.
    It counts choices: those that meet a full expert, too.

Sources: (1) Fedus et al., "Switch Transformers", arXiv:2101.03961, equations 4 to 6; Lepikhin et al., "GShard",
arXiv:2006.16668, algorithm 1, has it divided by E². All ranks' f_i: Qiu et al., "Demons in the detail: on implementing
load balancing loss", arXiv:2501.11873. (2) Zoph et al., "ST-MoE", arXiv:2202.08906, equation 5. (3) Shazeer et al.,
arXiv:1701.06538, equations 6 and 7.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F


def loads(experts: Tensor, E: int) -> Tensor:
    """How many of the choices (T, k) are each expert's: (E,), int64."""
    return torch.bincount(experts.flatten(), minlength=E)


def load_balancing_loss(scores: Tensor, experts: Tensor) -> Tensor:
    """(1) of tokens with ``scores`` (T, E) and choices ``experts`` (T, k)."""
    E = scores.shape[1]
    f = loads(experts, E) / experts.numel()
    P = F.softmax(scores, dim=-1).mean(0)
    return E * (f * P).sum()


def z_loss(scores: Tensor) -> Tensor:
    """(2) of ``scores`` (T, E)."""
    return torch.logsumexp(scores, dim=-1).square().mean()


def importance_loss(weights: Tensor, experts: Tensor, E: int) -> Tensor:
    """(3) of the choices (T, k) and their weights (T, k)."""
    importance = weights.new_zeros(E).index_add(0, experts.flatten(), weights.flatten())
    return importance.var(correction=0) / importance.mean().square()


def parts_of_losses(scores: Tensor, experts: Tensor, group: dist.ProcessGroup | None = None) -> tuple[Tensor, Tensor]:
    """This rank's parts of (1) and (2), of the tokens of all ranks: summed over the ranks they are the losses.

    A rank may have no tokens."""
    E, k = scores.shape[-1], experts.shape[-1]
    counted = torch.cat([loads(experts, E), torch.tensor([len(scores)], device=scores.device)])
    dist.all_reduce(counted, group=group)
    T = counted[-1]
    P = F.softmax(scores, dim=-1).sum(0) / T
    return E * (counted[:-1] / (T * k) * P).sum(), torch.logsumexp(scores, dim=-1).square().sum() / T
