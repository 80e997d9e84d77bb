"""The learner thought: w is sent as soon as the gradient before has come."""

MISCONCEPTION = "since-its-last-gradient"
TELL = (
    "You count from the gradient before. With a bound the server may answer it later: count from the w that it sends."
)


def staleness_of(trace):
    received, last, found = 0, {}, {}
    for event in trace.of_rank(0):
        if event.kind == "recv":
            old = received - last.get(event.peer, 0)
            found[old] = found.get(old, 0) + 1
            received += 1
            last[event.peer] = received
    return found
