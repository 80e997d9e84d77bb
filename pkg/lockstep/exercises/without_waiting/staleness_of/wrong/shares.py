"""The learner thought: a histogram gives shares."""

MISCONCEPTION = "wrong-values"


def staleness_of(trace):
    received, sent, found = 0, {}, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            sent[event.peer] = received
        elif event.kind == "recv":
            old = received - sent[event.peer]
            found[old] = found.get(old, 0) + 1
            received += 1
    return {old: number / received for old, number in found.items()}
