"""The learner thought: a number is a number."""

MISCONCEPTION = "not-an-integer"


def weight_version(stage, stages, minibatch, which, rule):
    if rule == "none" and which == "B":
        return float(minibatch)
    first = 0 if rule == "vertical sync" else stage
    return max(0.0, minibatch - (stages - first) + 1.0)
