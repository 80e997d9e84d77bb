"""The learner thought: without stashing there is one version, so F of i has seen i updates too."""

MISCONCEPTION = "forward-as-backward"
TELL = "When F of i begins, B of the p - s - 1 minibatches before it are still to come on stage s: their updates are missing."


def weight_version(stage, stages, minibatch, which, rule):
    if rule == "none":
        return minibatch
    first = 0 if rule == "vertical sync" else stage
    return max(0, minibatch - (stages - first - 1))
