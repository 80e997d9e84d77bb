"""The learner thought: staleness is how far a worker is behind."""

MISCONCEPTION = "steps-behind"
TELL = (
    "You count the steps that a worker is behind. A worker that is ahead has stale gradients, too: count the updates."
)


def staleness_of(trace):
    clock, found = {}, {}
    for event in trace.of_rank(0):
        if event.kind == "recv":
            clock[event.peer] = clock.get(event.peer, 0) + 1
            old = max(clock.values()) - clock[event.peer]
            found[old] = found.get(old, 0) + 1
    return found
