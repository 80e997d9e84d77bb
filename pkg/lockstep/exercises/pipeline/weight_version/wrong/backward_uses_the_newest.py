"""The learner thought: with stashing, too, B uses the weights that are there."""

MISCONCEPTION = "stashing-forgets"
TELL = "With stashing B uses the version that its F has used. What you say of B is what happens without stashing."


def weight_version(stage, stages, minibatch, which, rule):
    if which == "B":
        return minibatch
    first = 0 if rule == "vertical sync" else stage
    return max(0, minibatch - (stages - first) + 1)
