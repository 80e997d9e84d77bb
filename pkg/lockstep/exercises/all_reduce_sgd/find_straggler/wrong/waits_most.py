"""The learner thought: whoever waits most is the straggler."""

MISCONCEPTION = "who-waits-most"
TELL = "This is the rank that waits most, for others. The straggler lets the others wait, and waits least itself."


def find_straggler(trace):
    return max(range(trace.ranks), key=lambda r: sum(e.wait for e in trace.of_rank(r)))
