"""The learner thought: the first w after a gradient is the one that the next gradient is computed on."""

MISCONCEPTION = "first-of-two"
TELL = "Where the server sends w again before the gradient comes, you count from the first. The last one counts."


def staleness_of(trace):
    received, sent, found = 0, {}, {}
    used = set()
    for event in trace.of_rank(0):
        if event.kind == "send":
            if event.peer in used or event.peer not in sent:
                sent[event.peer] = received
            used.discard(event.peer)
        elif event.kind == "recv":
            old = received - sent[event.peer]
            found[old] = found.get(old, 0) + 1
            used.add(event.peer)
            received += 1
    return found
