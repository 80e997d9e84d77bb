"""The learner thought: each rank of the ep group has one expert."""

MISCONCEPTION = "wrong-values"
TELL = "You give each rank one expert, whatever number there is. It has experts/ep of them."


def fold_experts(tp, dp, pp, ep, experts):
    stage = tp * dp
    if stage % ep or experts % ep:
        return None
    groups, copies, mine = [], [], []
    for first in range(0, stage * pp, stage):
        for g in range(stage // ep):
            groups.append([first + g * ep + i for i in range(ep)])
        for i in range(ep):
            copies.append([first + g * ep + i for g in range(stage // ep)])
        for r in range(stage):
            mine.append([r % ep])
    return groups, copies, mine
