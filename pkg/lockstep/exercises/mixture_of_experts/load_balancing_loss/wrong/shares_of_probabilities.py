"""The learner thought: f is how much the experts are wanted, and so is P."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "shares-of-probabilities"
TELL = "You take f from the probabilities. f_i is counted from the choices in `experts`."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    own = F.softmax(scores, dim=1).sum(0)
    sums = torch.cat([own.detach(), torch.tensor([len(scores)])])
    dist.all_reduce(sums, group=group)
    N = sums[-1]
    return E * (sums[:-1] / N * own / N).sum()
