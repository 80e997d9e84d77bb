"""The learner thought: an ep group takes every tp·dp/ep-th rank."""

MISCONCEPTION = "wrong-values"
TELL = "Your ep groups take every (tp·dp/ep)-th rank. They should be neighbours: the first `ep` ranks of a stage, then the next ones."


def fold_experts(tp, dp, pp, ep, experts):
    stage = tp * dp
    if stage % ep or experts % ep:
        return None
    groups, copies, mine = [], [], []
    for first in range(0, stage * pp, stage):
        for g in range(stage // ep):
            groups.append([first + g + i * (stage // ep) for i in range(ep)])
        for i in range(ep):
            copies.append([first + g + i * (stage // ep) for g in range(stage // ep)])
        for r in range(stage):
            mine.append([r // (stage // ep) * (experts // ep) + n for n in range(experts // ep)])
    return groups, copies, mine
