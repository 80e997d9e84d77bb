"""The learner thought: a speedup is what is won."""

MISCONCEPTION = "gain-not-speedup"
TELL = "This is 1 less than the speedup: the time 1, in which one worker works anyway, counts as well."


def gustafson(p, s):
    return p * (s - 1)
