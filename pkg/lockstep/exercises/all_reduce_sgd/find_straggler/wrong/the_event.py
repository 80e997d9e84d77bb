"""The learner thought: the event says which rank it is."""

MISCONCEPTION = "wrong-type"


def find_straggler(trace):
    return min(trace.of_kind("all_reduce"), key=lambda e: e.wait)
