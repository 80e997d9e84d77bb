"""The learner thought: the server's model becomes the new one."""

MISCONCEPTION = "changes-arguments"


def federated_average(w, models, examples):
    back = [(model, n) for model, n in zip(models, examples) if model is not None]
    total = sum(n for _, n in back)
    if total:
        w.zero_()
        for model, n in back:
            w += (n / total) * model
    return w
