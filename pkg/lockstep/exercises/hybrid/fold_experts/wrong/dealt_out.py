"""The learner thought: experts are dealt out one by one."""

MISCONCEPTION = "wrong-values"
TELL = "You deal the experts out one by one: rank i has i, i + ep, … Each rank has a stretch of them, from i·experts/ep on."


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
            mine.append(list(range(r % ep, experts, ep)))
    return groups, copies, mine
