"""The learner thought: play the stage step by step."""

MISCONCEPTION = "crashed:Stuck"


def weight_version(stage, stages, minibatch, which, rule):
    first = 0 if rule == "vertical sync" else stage
    updates = 0
    for i in range(minibatch):
        updates += which == "B" and rule == "none" or i >= stages - first - 1
    return updates
