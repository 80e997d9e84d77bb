"""One running sum of models and one of examples."""


def federated_average(w, models, examples):
    numerator, denominator = 0 * w, 0
    for model, n in zip(models, examples):
        if model is not None and n > 0:
            numerator = numerator + n * model
            denominator += n
    return numerator / denominator if denominator else w.clone()
