"""The learner thought: there can't be more than dp places for experts."""

MISCONCEPTION = "wrong-values"
TELL = "You refuse an ep above dp. Ranks of one tensor group may have different experts, so ep may be anything that divides dp·tp."


def fold_experts(tp, dp, pp, ep, experts):
    stage = tp * dp
    if ep > dp or stage % ep or experts % ep:
        return None
    groups, copies, mine = [], [], []
    for first in range(0, stage * pp, stage):
        for g in range(stage // ep):
            groups.append([first + g * ep + i for i in range(ep)])
        for i in range(ep):
            copies.append([first + g * ep + i for g in range(stage // ep)])
        for r in range(stage):
            mine.append([r % ep * (experts // ep) + n for n in range(experts // ep)])
    return groups, copies, mine
