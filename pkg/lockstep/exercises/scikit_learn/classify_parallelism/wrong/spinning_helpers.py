"""The learner thought: the larger of .children and .helpers did the work. A thread that spins is a helper, too."""

MISCONCEPTION = "spinning-helper"
TELL = (
    "A thread that burns more CPU time in vain than the other processes work makes that fit threads for you. It burns as "
    "much with every knob at 1: compare how much .children and .helpers grow."
)


def classify_parallelism(measure):
    alone = measure().elsewhere
    for knob in ("openmp", "blas"):
        if measure(**{knob: 2}).elsewhere - alone >= 0.25:
            return knob
    used = measure(n_jobs=2)
    if used.elsewhere - alone < 0.25:
        return "serial"
    return "processes" if used.children > used.helpers else "threads"
