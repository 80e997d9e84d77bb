"""The learner thought: more workers do more work, so the parallel part counts s times."""

MISCONCEPTION = "gustafson"
TELL = (
    "This is Gustafson's law, in which the work grows with the workers. Amdahl's work stays the same: if one "
    "worker needs the time 1, what do s workers need?"
)


def amdahl(p, s):
    return (1 - p) + p * s
