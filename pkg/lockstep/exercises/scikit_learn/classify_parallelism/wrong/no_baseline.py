"""The learner thought: CPU time in other threads is work that they took over."""

MISCONCEPTION = "spinning-is-work"
TELL = (
    "A thread that burns CPU time in vain, with every knob at 1 too, is work that was taken over for you. What a "
    "knob does is what comes on top of measure()."
)


def classify_parallelism(measure):
    for knob in ("openmp", "blas"):
        if measure(**{knob: 2}).elsewhere >= 0.25:
            return knob
    both = measure(n_jobs=2)
    if both.elsewhere < 0.25:
        return "serial"
    return "processes" if both.children > both.helpers else "threads"
