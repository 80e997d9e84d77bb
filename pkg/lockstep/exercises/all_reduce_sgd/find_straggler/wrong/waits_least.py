"""The learner thought: who lets the others wait waits least."""

MISCONCEPTION = "waits-least"
TELL = "This rank waits least itself. It may be late often, and still not the last: then the others wait for somebody else."
VARIANTS = ["behind_the_first"]


def find_straggler(trace):
    waits = [0.0] * trace.ranks
    for e in trace.of_kind("all_reduce"):
        waits[e.rank] += e.wait
    return waits.index(min(waits))
