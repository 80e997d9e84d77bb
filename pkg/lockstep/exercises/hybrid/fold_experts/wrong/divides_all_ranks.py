"""The learner thought: ep has to divide the number of ranks."""

MISCONCEPTION = "wrong-values"
TELL = "You ask whether ep divides all ranks. Its groups lie inside a stage, so it has to divide dp·tp."


def fold_experts(tp, dp, pp, ep, experts):
    stage = tp * dp
    if stage * pp % ep or experts % ep:
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
