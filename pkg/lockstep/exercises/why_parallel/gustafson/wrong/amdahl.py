"""The learner thought: there is one law of speedup."""

MISCONCEPTION = "amdahl"
TELL = (
    "This is Amdahl's law, in which the work stays the same. Here it grows: in the share p of the time s workers "
    "do s times as much as one. How long would one worker need for all of it?"
)


def gustafson(p, s):
    return 1 / ((1 - p) + p / s)
