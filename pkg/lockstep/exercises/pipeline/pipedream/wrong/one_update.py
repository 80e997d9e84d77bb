"""The learner thought: gradients add up, and one update ends the step."""

MISCONCEPTION = "one-flush"
TELL = "This is 1F1B with a flush: one update at the end. PipeDream updates after every B."


def pipedream(stage, stages, minibatches):
    kept = min(stages - stage, minibatches)
    order = [("F", i) for i in range(kept)]
    for i in range(minibatches):
        order += [("B", i)] + [("F", kept + i)] * (kept + i < minibatches)
    return order + [("U", minibatches - 1), ("drop", 0)]
