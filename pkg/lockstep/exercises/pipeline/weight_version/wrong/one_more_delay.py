"""The learner thought: p - s updates are missing."""

MISCONCEPTION = "delay-of-one-more"
TELL = "F of the last stage comes right after the B before it: nothing is missing there. So p - s - 1 updates are missing on stage s, not p - s."


def weight_version(stage, stages, minibatch, which, rule):
    if rule == "none" and which == "B":
        return minibatch
    first = 0 if rule == "vertical sync" else stage
    return max(0, minibatch - (stages - first))
