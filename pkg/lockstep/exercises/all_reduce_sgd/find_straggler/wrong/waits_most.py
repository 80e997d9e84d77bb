"""The learner thought: whoever waits most is the straggler."""

MISCONCEPTION = "who-waits-most"
TELL = "This is the rank that waits most, for others. The straggler is the one that they wait for."


def find_straggler(trace):
    return max(range(trace.ranks), key=lambda r: sum(e.wait for e in trace.of_rank(r)))
