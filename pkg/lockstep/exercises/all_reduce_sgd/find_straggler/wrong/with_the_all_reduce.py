"""The learner thought: the others wait for the last rank until the all-reduce has ended."""

from collections import defaultdict

MISCONCEPTION = "with-the-all-reduce"
TELL = "You count all that the others wait. That includes the all-reduce itself, which takes as long for everybody: count until the last rank comes."


def find_straggler(trace):
    steps = defaultdict(list)
    for e in trace.of_kind("all_reduce"):
        steps[e.message].append(e)
    waits = [0.0] * trace.ranks
    for events in steps.values():
        last = max(events, key=lambda e: e.posted)
        waits[last.rank] += sum(e.wait for e in events if e is not last)
    return waits.index(max(waits))
