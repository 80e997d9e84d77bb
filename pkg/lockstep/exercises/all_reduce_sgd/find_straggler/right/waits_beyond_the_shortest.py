"""In each step the rank that waits least is last; what the others wait beyond that, they wait for it."""


def find_straggler(trace):
    steps = {}
    for event in trace.of_kind("all_reduce"):
        steps.setdefault(event.message, {})[event.rank] = event.wait
    total = dict.fromkeys(range(trace.ranks), 0.0)
    for waits in steps.values():
        last = min(waits, key=waits.get)
        total[last] += sum(wait - waits[last] for wait in waits.values())
    return max(total, key=total.get)
