"""The learner thought: somewhere the others wait very long: whoever is last there."""

MISCONCEPTION = "longest-wait-only"
TELL = (
    "You look at the one all-reduce with the longest wait. A rank may be late once and never again: add up all of them."
)


def find_straggler(trace):
    longest = max(trace.of_kind("all_reduce"), key=lambda e: e.wait)
    return min((e for e in trace.of_kind("all_reduce") if e.message == longest.message), key=lambda e: e.wait).rank
