"""The learner thought: a rank holds up the others for as long as it comes after the last but one."""

from collections import defaultdict

MISCONCEPTION = "behind-the-next"
TELL = "You count for how long a rank comes after the one before it. The others have waited since they came, each for its own time: add that up."


def find_straggler(trace):
    steps = defaultdict(list)
    for e in trace.of_kind("all_reduce"):
        steps[e.message].append((e.posted, e.rank))
    late = [0.0] * trace.ranks
    for arrivals in steps.values():
        (before, _), (last, rank) = [(0.0, 0), *sorted(arrivals)][-2:]
        late[rank] += last - before
    return late.index(max(late))
