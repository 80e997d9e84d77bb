"""Who comes last most often."""

from collections import Counter


def find_straggler(trace):
    meetings = trace.of_kind("all_reduce")
    last = Counter(e.rank for e in meetings if e.posted == e.start)
    return last.most_common(1)[0][0]
