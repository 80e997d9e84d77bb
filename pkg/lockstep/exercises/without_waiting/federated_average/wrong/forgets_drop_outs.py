"""The learner thought: all clients answer."""

MISCONCEPTION = "crashed:RankRaised"
TELL = "The model of a client that has dropped out is None: leave it out, and its examples, too."
RAISES = "^TypeError: .*NoneType"


def federated_average(w, models, examples):
    total = sum(examples)
    return sum(n / total * model for n, model in zip(examples, models))
