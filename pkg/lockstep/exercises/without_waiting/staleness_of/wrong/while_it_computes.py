"""The learner thought: from when the worker has w to when it sends."""

MISCONCEPTION = "while-it-computes"
TELL = "Others are received, too, while the gradient waits for the server. Count until the server has it."


def staleness_of(trace):
    arrivals = [e.end for e in trace.of_rank(0) if e.kind == "recv"]
    found = {}
    for rank in range(1, trace.ranks):
        begin = None
        for event in trace.of_rank(rank):
            if event.kind == "recv":
                begin = event.end
            elif event.kind == "send":
                old = sum(begin < end < event.posted for end in arrivals)
                found[old] = found.get(old, 0) + 1
    return found
