"""The learner thought: a mean is a sum divided by how many there are."""

MISCONCEPTION = "divides-by-clients"
TELL = "You weight by examples, and then divide by the number of models. Divide by the number of examples that they have together."


def federated_average(w, models, examples):
    back = [(model, n) for model, n in zip(models, examples) if model is not None]
    if not sum(n for _, n in back):
        return w.clone()
    return sum(n * model for model, n in back) / len(back)
