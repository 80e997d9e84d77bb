"""The learner thought: vertical sync is about F only."""

MISCONCEPTION = "sync-forward-only"
TELL = "With vertical sync B uses the version of its F, too."


def weight_version(stage, stages, minibatch, which, rule):
    if rule != "stashing" and which == "B":
        return minibatch
    first = 0 if rule == "vertical sync" else stage
    return max(0, minibatch - (stages - first) + 1)
