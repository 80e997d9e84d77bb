"""The learner thought: w and a gradient take turns, so after a gradient the count begins again."""

MISCONCEPTION = "anew-with-each-gradient"
TELL = "You begin to count again when a gradient comes. A worker may send two on one w: count for each from that w on."


def staleness_of(trace):
    since, found = {}, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            since[event.peer] = 0
        elif event.kind == "recv":
            found[since[event.peer]] = found.get(since[event.peer], 0) + 1
            since = {who: old + 1 for who, old in since.items()}
            since[event.peer] = 0
    return found
