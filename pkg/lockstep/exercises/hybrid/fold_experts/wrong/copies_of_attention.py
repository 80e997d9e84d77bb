"""The learner thought: gradients are summed over dp."""

MISCONCEPTION = "wrong-values"
TELL = "Your copies are those of attention, tp ranks apart. An expert's copies are ep ranks apart, and there are tp·dp/ep of them."


def fold_experts(tp, dp, pp, ep, experts):
    stage = tp * dp
    if stage % ep or experts % ep:
        return None
    groups, copies, mine = [], [], []
    for first in range(0, stage * pp, stage):
        for g in range(stage // ep):
            groups.append([first + g * ep + i for i in range(ep)])
        for t in range(tp):
            copies.append(list(range(first + t, first + stage, tp)))
        for r in range(stage):
            mine.append([r % ep * (experts // ep) + n for n in range(experts // ep)])
    return groups, copies, mine
