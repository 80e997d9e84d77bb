"""The learner thought: speedup is what each worker brings."""

MISCONCEPTION = "efficiency"
TELL = "This is the speedup divided by s, which is called efficiency. Do not divide by s at the end."


def gustafson(p, s):
    return ((1 - p) + p * s) / s
