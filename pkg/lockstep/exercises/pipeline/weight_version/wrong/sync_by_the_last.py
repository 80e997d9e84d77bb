"""The learner thought: vertical sync takes the last stage's version."""

MISCONCEPTION = "sync-by-the-last-stage"
TELL = "Your version of vertical sync is that of the last stage. A minibatch takes its version along from stage 0."


def weight_version(stage, stages, minibatch, which, rule):
    if rule == "vertical sync":
        return minibatch
    if rule == "none" and which == "B":
        return minibatch
    return max(0, minibatch - (stages - stage) + 1)
