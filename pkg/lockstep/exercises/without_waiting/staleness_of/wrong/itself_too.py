"""The learner thought: the gradient itself is an update, too."""

MISCONCEPTION = "itself-too"
TELL = "The gradient itself is counted, too. It is as stale as there were others."


def staleness_of(trace):
    received, sent, found = 0, {}, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            sent[event.peer] = received
        elif event.kind == "recv":
            received += 1
            old = received - sent[event.peer]
            found[old] = found.get(old, 0) + 1
    return found
