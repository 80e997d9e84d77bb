"""The learner thought: rank 1 is the first."""

MISCONCEPTION = "counts-from-one"
TELL = "This is the rank after the straggler: ranks are counted from 0."


def find_straggler(trace):
    waits = [sum(e.wait for e in trace.of_rank(r)) for r in range(trace.ranks)]
    return waits.index(min(waits)) + 1
