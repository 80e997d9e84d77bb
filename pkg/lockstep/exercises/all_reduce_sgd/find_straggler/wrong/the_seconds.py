"""The learner thought: how long they wait is asked."""

MISCONCEPTION = "wrong-type"


def find_straggler(trace):
    return [sum(e.wait for e in trace.of_rank(r)) for r in range(trace.ranks)]
