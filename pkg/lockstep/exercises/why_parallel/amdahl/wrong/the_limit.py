"""The learner thought: the parallel part disappears when there are many workers."""

MISCONCEPTION = "limit-only"
TELL = "This is the limit for endlessly many workers, 1 / (1 - p). With s workers the parallel part still takes p/s."


def amdahl(p, s):
    return 1 / (1 - p) if p < 1 else s
