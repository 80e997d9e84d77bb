"""The learner thought: whoever is last at the first all-reduce is the straggler."""

MISCONCEPTION = "first-step-only"
TELL = "You look at the first all-reduce alone. A rank may be late once and never again: add up all of them."


def find_straggler(trace):
    K = trace.ranks
    return max(trace.of_kind("all_reduce")[:K], key=lambda e: e.posted).rank
