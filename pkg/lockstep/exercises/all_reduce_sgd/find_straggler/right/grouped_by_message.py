"""Events by message; the seconds until the last rank comes."""

from collections import defaultdict


def find_straggler(trace):
    joined = defaultdict(list)
    for rank in range(trace.ranks):
        for event in trace.of_rank(rank):
            if event.kind == "all_reduce":
                joined[event.message].append((event.posted, rank))
    seconds = [0.0] * trace.ranks
    for arrivals in joined.values():
        latest, who = max(arrivals)
        seconds[who] += sum(latest - posted for posted, _ in arrivals)
    return max(range(trace.ranks), key=seconds.__getitem__)
