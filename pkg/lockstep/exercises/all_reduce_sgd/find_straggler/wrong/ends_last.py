"""The learner thought: the straggler ends last."""

MISCONCEPTION = "who-ends-last"
TELL = "This rank has the last event of all. All-reduces end on all ranks together, and what comes after the last one holds up nobody."


def find_straggler(trace):
    return max(trace, key=lambda e: e.end).rank
