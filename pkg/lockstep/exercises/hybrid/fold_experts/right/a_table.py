"""A tensor of all ranks: stage, copy, place."""

import torch


def fold_experts(tp, dp, pp, ep, experts):
    if (tp * dp) % ep or experts % ep:
        return None
    grid = torch.arange(tp * dp * pp).view(pp, tp * dp // ep, ep)
    own = torch.arange(experts).view(ep, -1).repeat(pp * tp * dp // ep, 1)
    return [grid.flatten(0, 1).tolist(), grid.transpose(1, 2).flatten(0, 1).tolist(), own.tolist()]
