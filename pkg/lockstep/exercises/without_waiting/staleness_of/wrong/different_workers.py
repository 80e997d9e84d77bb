"""The learner thought: each other worker counts once."""

MISCONCEPTION = "different-workers"
TELL = "You count the workers whose gradients came meanwhile. One worker may have sent several: each of them counts."


def staleness_of(trace):
    since, found = {}, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            since[event.peer] = set()
        elif event.kind == "recv":
            old = len(since[event.peer])
            found[old] = found.get(old, 0) + 1
            for who, others in since.items():
                if who != event.peer:
                    others.add(event.peer)
    return found
