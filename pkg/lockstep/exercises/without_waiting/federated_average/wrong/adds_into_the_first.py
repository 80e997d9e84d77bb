"""The learner thought: the first model is as good a place for the sum as any."""

MISCONCEPTION = "changes-arguments"


def federated_average(w, models, examples):
    back = [(model, n) for model, n in zip(models, examples) if model is not None]
    total = sum(n for _, n in back)
    if not total:
        return w.clone()
    result = back[0][0].mul_(back[0][1] / total)
    for model, n in back[1:]:
        result += (n / total) * model
    return result
