"""The learner thought: whoever comes late costs as much as it comes after the first one."""

from collections import defaultdict

MISCONCEPTION = "waits-least"
TELL = "This rank waits least itself. It may be late often, and still not the last: then the others wait for somebody else."
VARIANTS = ["waits_least"]


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
