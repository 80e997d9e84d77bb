"""Expert parallelism inside the grid: the ranks of a stage, regrouped for its experts.

    attention    rank = tensor + tp·(data + dp·stage)
    experts      rank = expert + ep·(copy + copies·stage)        with ep·copies = tp·dp

    tp = 2, dp = 4, ep = 4       tensor groups   0 1 | 2 3 | 4 5 | 6 7
                                 ep groups       0 1   2 3 | 4 5   6 7      each has all experts
                                 copies          0 4 | 1 5 | 2 6 | 3 7      the same experts: they sum their gradients

ep is no further factor of the number of ranks. An expert has fewer copies than attention: tp·dp/ep, in place of dp.

Source: Liu et al., "MoE Parallel Folding", arXiv:2504.14960, where experts may also be cut; here they are whole.
"""

from __future__ import annotations

Groups = list[list[int]]


def fold_experts(tp: int, dp: int, pp: int, ep: int, experts: int) -> tuple[Groups, Groups, list[list[int]]] | None:
    """The ep groups, the groups of copies, both by their first ranks, and each rank's experts; None where ``ep`` does
    not divide tp·dp, or ``experts``."""
    stage = tp * dp
    if stage % ep or experts % ep:
        return None
    each, of_stage = experts // ep, [range(first, first + stage) for first in range(0, stage * pp, stage)]
    groups = [list(ranks[i : i + ep]) for ranks in of_stage for i in range(0, stage, ep)]
    copies = [list(ranks[i::ep]) for ranks in of_stage for i in range(ep)]
    return groups, copies, [[r % ep * each + n for n in range(each)] for ranks in of_stage for r in range(len(ranks))]
