"""What is under way at F of i has no update yet: that many are missing."""


def weight_version(stage, stages, minibatch, which, rule):
    kept = {"none": stages - stage, "stashing": stages - stage, "vertical sync": stages}[rule]
    under_way = min(minibatch, kept - 1)
    return minibatch if which == "B" and rule == "none" else minibatch - under_way
