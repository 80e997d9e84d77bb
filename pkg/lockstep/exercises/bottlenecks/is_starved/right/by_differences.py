"""What both cover together, less what the kernels cover."""


def is_starved(fn):
    spans = fn(700)
    host = [one for one in spans if one[0] == "host" and one[1] == 10]
    start = min(one[3] for one in host)
    moments = []
    for lane, step, name, begin, end in spans:
        which = 0 if lane == "compute" else 1 if name == "next(loader)" else None
        if which is not None and end > start:
            moments += [(max(begin, start), which, 1), (end, which, -1)]
    open_, last, starved = [0, 0], start, 0
    for at, which, change in sorted(moments):
        if open_[1] and not open_[0]:
            starved += at - last
        last = at
        open_[which] += change
    return starved > 0.05 * (max(one[4] for one in spans) - start)
