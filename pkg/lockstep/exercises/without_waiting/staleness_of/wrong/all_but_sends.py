"""The learner thought: what is not sent is received."""

MISCONCEPTION = "all-but-sends"
TELL = 'You take each event that is no "send" for a gradient. Only a "recv" is one.'


def staleness_of(trace):
    received, sent, found = 0, {}, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            sent[event.peer] = received
        elif event.peer in sent:
            old = received - sent[event.peer]
            found[old] = found.get(old, 0) + 1
            received += 1
    return found
