"""The learner thought: each worker has a staleness."""

MISCONCEPTION = "by-worker"
TELL = "Your keys are workers. A key is a staleness, and its value the number of gradients that are so stale."


def staleness_of(trace):
    received, sent, found = 0, {}, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            sent[event.peer] = received
        elif event.kind == "recv":
            found[event.peer] = found.get(event.peer, 0) + received - sent[event.peer]
            received += 1
    return found
