"""The learner thought: F and B of a minibatch always use the same weights."""

MISCONCEPTION = "same-weights-without-stashing"
TELL = "Without stashing nobody keeps the weights of F: B of i comes after i updates, and uses what they have made."


def weight_version(stage, stages, minibatch, which, rule):
    first = 0 if rule == "vertical sync" else stage
    return max(0, minibatch - (stages - first) + 1)
