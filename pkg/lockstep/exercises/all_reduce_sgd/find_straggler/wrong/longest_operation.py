"""The learner thought: the straggler has the longest operation."""

MISCONCEPTION = "longest-operation"
TELL = "This rank has the longest single operation. A rank may compute in few long operations or in many short ones: what counts is when it comes to the all-reduce."


def find_straggler(trace):
    return max(trace.of_kind("compute"), key=lambda e: e.end - e.start).rank
