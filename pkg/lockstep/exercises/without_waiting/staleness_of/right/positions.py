"""Where each gradient stands in the order of arrival, and how many had arrived when w was sent."""

from collections import Counter


def staleness_of(trace):
    events = [e for e in trace.of_rank(0) if e.kind in ("send", "recv")]
    arrivals = [at for at, e in enumerate(events) if e.kind == "recv"]
    counted = Counter()
    for worker in range(1, trace.ranks):
        gets = [at for at, e in enumerate(events) if e.kind == "send" and e.peer == worker]
        for gave in (at for at in arrivals if events[at].peer == worker):
            got = max(at for at in gets if at < gave)
            counted[sum(got < at < gave for at in arrivals)] += 1
    return dict(counted)
