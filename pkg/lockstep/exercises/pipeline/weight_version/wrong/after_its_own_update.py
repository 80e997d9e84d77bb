"""The learner thought: without stashing, B of i sees its own update."""

MISCONCEPTION = "own-update"
TELL = "The update of minibatch i comes after B of i. So B has seen i updates: those of 0 to i - 1."


def weight_version(stage, stages, minibatch, which, rule):
    if rule == "none" and which == "B":
        return minibatch + 1
    first = 0 if rule == "vertical sync" else stage
    return max(0, minibatch - (stages - first) + 1)
