"""How long after the first one each rank comes, added up."""

from collections import defaultdict


def find_straggler(trace):
    steps = defaultdict(list)
    for e in trace.of_kind("all_reduce"):
        steps[e.start].append(e)
    late = [0.0] * trace.ranks
    for events in steps.values():
        first = min(e.posted for e in events)
        for e in events:
            late[e.rank] += e.posted - first
    return max(range(trace.ranks), key=late.__getitem__)
