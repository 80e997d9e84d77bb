"""The learner thought: the later the stage, the older its weights."""

MISCONCEPTION = "delay-by-stage"
TELL = (
    "You let the delay grow with the stage. The first stage waits the longest for its B, so its weights are the oldest."
)


def weight_version(stage, stages, minibatch, which, rule):
    if rule == "none" and which == "B":
        return minibatch
    delay = stages - 1 if rule == "vertical sync" else stage
    return max(0, minibatch - delay)
