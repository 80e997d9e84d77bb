"""Where each gradient stands in the order of arrival, and how many had arrived when w was sent."""

from collections import Counter


def staleness_of(trace):
    arrivals = [e.end for e in trace.of_rank(0) if e.kind == "recv"]
    counted = Counter()
    for worker in range(1, trace.ranks):
        gets = [e.end for e in trace.of_rank(0) if e.kind == "send" and e.peer == worker]
        gives = [e.end for e in trace.of_rank(0) if e.kind == "recv" and e.peer == worker]
        for got, gave in zip(gets, gives):
            counted[sum(got < end < gave for end in arrivals)] += 1
    return dict(counted)
