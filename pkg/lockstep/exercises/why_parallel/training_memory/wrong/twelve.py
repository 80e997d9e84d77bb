"""The learner thought: training takes 12 bytes for each parameter."""

MISCONCEPTION = "always-twelve"
TELL = "These are 12 bytes for each parameter, which is one recipe of many: add up what this one lists."


def training_memory(params, recipe):
    return 12 * params
