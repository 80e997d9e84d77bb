"""The learner thought: as in the notes: 457 GB for 65 billion parameters."""

MISCONCEPTION = "seven-bytes"
TELL = (
    "These are 7 bytes for each parameter: they are in some lecture notes, and in no recipe. Add up what this one "
    "lists."
)


def training_memory(params, recipe):
    return 7 * params
