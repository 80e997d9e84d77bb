"""The learner thought: the server's model has a say, too: the sum begins with it."""

MISCONCEPTION = "w-counts-too"
TELL = "You have added w to the mean. It only counts where no model comes back."


def federated_average(w, models, examples):
    back = [(model, n) for model, n in zip(models, examples) if model is not None]
    total = sum(n for _, n in back)
    result = w.clone()
    for model, n in back:
        result = result + (n / total) * model if total else result
    return result
