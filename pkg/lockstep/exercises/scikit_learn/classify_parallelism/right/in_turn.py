"""One knob after another, until one moves the work; the seconds themselves are compared."""


def share(run):
    return (run.helpers + run.children) / (run.main + run.helpers + run.children)


def classify_parallelism(measure):
    before = measure()
    limit = share(before) + 0.25
    for knob in ("openmp", "blas"):
        if share(measure(**{knob: 2})) >= limit:
            return knob
    run = measure(n_jobs=2)
    if share(run) < limit:
        return "serial"
    return "processes" if run.children - before.children > run.helpers - before.helpers else "threads"
