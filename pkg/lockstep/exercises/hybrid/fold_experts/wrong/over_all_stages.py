"""The learner thought: the copies of an expert are all ranks with the same place in their groups."""

MISCONCEPTION = "wrong-values"
TELL = "You sum over the stages. Ranks of different stages have different layers, so their experts are others."


def fold_experts(tp, dp, pp, ep, experts):
    stage = tp * dp
    if stage % ep or experts % ep:
        return None
    groups, copies, mine = [], [], []
    for first in range(0, stage * pp, stage):
        for g in range(stage // ep):
            groups.append([first + g * ep + i for i in range(ep)])
        for r in range(stage):
            mine.append([r % ep * (experts // ep) + n for n in range(experts // ep)])
    copies = [list(range(i, stage * pp, ep)) for i in range(ep)]
    return groups, copies, mine
