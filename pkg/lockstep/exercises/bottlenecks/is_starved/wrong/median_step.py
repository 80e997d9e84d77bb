"""The learner thought: the typical step says it."""

from statistics import median

MISCONCEPTION = "rejects-late-ones"
ALSO = ["rejects-rare-ones"]


def is_starved(fn):
    spans = fn(400)
    kernels = sorted((begin, end) for lane, step, name, begin, end in spans if lane == "compute")
    shares = []
    for lane, step, name, begin, end in spans:
        if name == "next(loader)" and step >= 10:
            busy = sum(max(0, min(end, b) - max(begin, a)) for a, b in kernels)
            shares.append(end - begin - busy)
    stop = max(end for *_, end in spans)
    return median(shares) * 400 / stop >= 0.05
