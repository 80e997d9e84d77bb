"""The learner thought: training takes 16 bytes for each parameter."""

MISCONCEPTION = "always-sixteen"
TELL = (
    "These are 16 bytes for each parameter, which is mixed-precision Adam. Other recipes keep less: add up what "
    "this one lists."
)


def training_memory(params, recipe):
    return 16 * params
