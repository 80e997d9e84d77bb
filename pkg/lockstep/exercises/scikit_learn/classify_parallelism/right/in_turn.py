"""One knob after another, until one moves the work; the seconds themselves are compared."""


def share(run):
    return (run.helpers + run.children) / (run.main + run.helpers + run.children)


def classify_parallelism(measure):
    alone = share(measure())
    for knob in ("openmp", "blas"):
        if share(measure(**{knob: 2})) > alone + 0.2:
            return knob
    run = measure(n_jobs=2)
    if share(run) <= alone + 0.2:
        return "serial"
    return "processes" if run.children > run.helpers else "threads"
