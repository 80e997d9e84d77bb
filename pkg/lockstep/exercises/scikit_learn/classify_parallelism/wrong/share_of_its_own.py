"""The learner thought: a quarter of the caller's own work is a quarter of the CPU time."""

MISCONCEPTION = "share-of-main"
TELL = "You look at how much less the caller works. A knob counts by the share of all CPU time that others take over, .elsewhere."


def classify_parallelism(measure):
    a = measure()
    for k in ("openmp", "blas"):
        if measure(**{k: 2}).main <= 0.75 * a.main:
            return k
    j = measure(n_jobs=2)
    if j.main <= 0.75 * a.main:
        return "processes" if j.children > 0 else "threads"
    return "serial"
