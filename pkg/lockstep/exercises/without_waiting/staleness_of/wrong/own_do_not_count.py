"""The learner thought: of its own gradients none makes a worker's w old."""

MISCONCEPTION = "own-do-not-count"
TELL = (
    "You leave out gradients of the same worker. Where it sends two on one w, the first of them makes the second stale: "
    "each other gradient counts, whoever sent it."
)


def staleness_of(trace):
    since, found = {}, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            since[event.peer] = 0
        elif event.kind == "recv":
            old = since[event.peer]
            found[old] = found.get(old, 0) + 1
            for who in since:
                since[who] += who != event.peer
    return found
