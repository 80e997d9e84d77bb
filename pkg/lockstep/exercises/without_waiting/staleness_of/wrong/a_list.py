"""The learner thought: the staleness of each gradient is wanted."""

MISCONCEPTION = "wrong-type"


def staleness_of(trace):
    received, sent, found = 0, {}, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            sent[event.peer] = received
        elif event.kind == "recv":
            found.setdefault("all", []).append(received - sent[event.peer])
            received += 1
    return found["all"]
