"""The learner thought: the 0.25 of the text are seconds."""

MISCONCEPTION = "absolute-seconds"
TELL = (
    "These are the answers that 0.25 seconds give. A long fit spends many seconds, a short one few, whoever "
    "works: compare shares, .elsewhere with a knob at 2 and with every knob at 1."
)


def classify_parallelism(measure):
    for knob in ("openmp", "blas"):
        if measure(**{knob: 2}).helpers >= 0.25:
            return knob
    used = measure(n_jobs=2)
    if used.helpers + used.children >= 0.25:
        return "processes" if used.children > used.helpers else "threads"
    return "serial"
