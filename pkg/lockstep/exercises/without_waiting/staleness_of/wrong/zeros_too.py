"""The learner thought: each staleness up to the largest is a key."""

MISCONCEPTION = "zeros-too"
TELL = "You have keys for stalenesses that no gradient had. Leave them out."


def staleness_of(trace):
    received, sent, seen = 0, {}, []
    for event in trace.of_rank(0):
        if event.kind == "send":
            sent[event.peer] = received
        elif event.kind == "recv":
            seen.append(received - sent[event.peer])
            received += 1
    return {old: seen.count(old) for old in range(max(seen) + 1)}
