"""Who lets the others wait waits least."""


def find_straggler(trace):
    waits = [0.0] * trace.ranks
    for e in trace.of_kind("all_reduce"):
        waits[e.rank] += e.wait
    return waits.index(min(waits))
