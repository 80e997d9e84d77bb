"""The learner thought: the last step shows it as well as any other one."""

MISCONCEPTION = "last-step-only"
TELL = "You look at the last all-reduce alone. A rank may be late once: add up all of them."


def find_straggler(trace):
    def last(rank):
        return [e.posted for e in trace.of_rank(rank) if e.kind == "all_reduce"][-1]

    return max(range(trace.ranks), key=last)
