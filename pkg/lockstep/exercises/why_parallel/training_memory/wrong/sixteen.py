"""The learner thought: training takes 16 bytes for each parameter."""

MISCONCEPTION = "always-sixteen"


def training_memory(params, recipe):
    return 16 * params
