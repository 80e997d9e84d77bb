"""The learner thought: more workers do more work, so the parallel part counts s times."""

MISCONCEPTION = "gustafson"


def amdahl(p, s):
    return (1 - p) + p * s
