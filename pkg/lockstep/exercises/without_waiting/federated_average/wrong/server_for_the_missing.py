"""The learner thought: a client that drops out has not changed its model: it still has w."""

MISCONCEPTION = "w-for-drop-outs"
TELL = "You let w stand in for the models of those that dropped out. They are left out: only the models that came back count."


def federated_average(w, models, examples):
    if not sum(n for model, n in zip(models, examples) if model is not None):
        return w.clone()
    total = sum(examples)
    return sum(n / total * (w if model is None else model) for model, n in zip(models, examples))
