"""The learner thought: the straggler computes most seconds in all."""

MISCONCEPTION = "who-computes-most"
TELL = "This rank computes most. But what it does after the last all-reduce holds up nobody: look at who is late at the all-reduces."


def find_straggler(trace):
    seconds = [0.0] * trace.ranks
    for e in trace.of_kind("compute"):
        seconds[e.rank] += e.duration
    return seconds.index(max(seconds))
