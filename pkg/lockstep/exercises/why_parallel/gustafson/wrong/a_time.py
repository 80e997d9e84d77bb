"""The learner thought: a speedup is the time of s workers divided by that of one."""

MISCONCEPTION = "time-not-speedup"
TELL = "This is 1 divided by the speedup. The speedup is what one worker would need, where s workers need the time 1."


def gustafson(p, s):
    return 1 / ((1 - p) + p * s)
