"""The learner thought: the all-reduce takes longest on the straggler."""

MISCONCEPTION = "duration-of-all-reduces"
TELL = "From start to end an all-reduce takes equally long on all ranks: it starts when the last one is there. Look at when each rank asked for it, e.posted, or at e.wait."


def find_straggler(trace):
    seconds = [sum(e.duration for e in trace.of_rank(r) if e.kind == "all_reduce") for r in range(trace.ranks)]
    return seconds.index(max(seconds))
