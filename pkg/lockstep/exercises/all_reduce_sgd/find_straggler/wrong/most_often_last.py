"""The learner thought: the straggler is whoever comes last most often."""

from collections import Counter

MISCONCEPTION = "last-most-often"
TELL = "This rank is last most often. For how long do the others wait then? Add up the seconds."


def find_straggler(trace):
    meetings = trace.of_kind("all_reduce")
    last = Counter(e.rank for e in meetings if e.posted == e.start)
    return last.most_common(1)[0][0]
