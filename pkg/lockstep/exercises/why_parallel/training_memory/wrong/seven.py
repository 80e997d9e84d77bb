"""The learner thought: as in the notes: 457 GB for 65 billion parameters."""

MISCONCEPTION = "seven-bytes"


def training_memory(params, recipe):
    return 7 * params
