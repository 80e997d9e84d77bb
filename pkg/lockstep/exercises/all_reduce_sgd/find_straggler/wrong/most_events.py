"""The learner thought: the straggler has most to do."""

from collections import Counter

MISCONCEPTION = "counts-events"
TELL = "You count operations. They differ in length: what counts is when a rank comes to the all-reduce."


def find_straggler(trace):
    return Counter(e.rank for e in trace.of_kind("compute")).most_common(1)[0][0]
