"""The learner thought: a new w is an update."""

MISCONCEPTION = "counts-sends"
TELL = "You count what the server sends. It makes an update for each gradient that it receives."


def staleness_of(trace):
    versions, sent, found = 0, {}, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            versions += 1
            sent[event.peer] = versions
        elif event.kind == "recv":
            old = versions - sent[event.peer]
            found[old] = found.get(old, 0) + 1
    return found
