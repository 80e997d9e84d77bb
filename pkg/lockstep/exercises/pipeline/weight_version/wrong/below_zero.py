"""The learner thought: the formula holds from the beginning."""

MISCONCEPTION = "below-zero"
TELL = "There is no version below 0: the first minibatches use the weights that the stage began with."


def weight_version(stage, stages, minibatch, which, rule):
    if rule == "none" and which == "B":
        return minibatch
    first = 0 if rule == "vertical sync" else stage
    return minibatch - (stages - first) + 1
