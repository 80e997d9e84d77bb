"""The learner thought: the i-th rank of all has the i-th experts."""

MISCONCEPTION = "wrong-values"
TELL = "You number the experts on, from group to group. Each ep group has all of them: what counts is the place in the group."


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
            mine.append([r * (experts // ep) + n for n in range(experts // ep)])
    return groups, copies, mine
