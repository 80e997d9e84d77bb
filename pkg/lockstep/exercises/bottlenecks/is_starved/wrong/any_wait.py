"""The learner thought: a healthy loop never waits."""

MISCONCEPTION = "misses-healthy-ones"
ALSO = ["misses-both-apart"]


def merged(spans):
    found = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def shared(one, other):
    return sum(max(0, min(b, d) - max(a, c)) for a, b in one for c, d in other if c < b and a < d)


def is_starved(fn):
    spans = fn(400)
    start = min(begin for lane, step, name, begin, end in spans if lane == "host" and step == 10)
    stop = max(end for lane, step, name, begin, end in spans)
    waits = [
        (max(begin, start), end) for lane, step, name, begin, end in spans if name == "next(loader)" and end > start
    ]
    kernels = merged(
        (max(begin, start), end) for lane, step, name, begin, end in spans if lane == "compute" and end > start
    )
    starved = sum(b - a for a, b in waits) - shared(waits, kernels)
    return starved / (stop - start) > 0.0005
