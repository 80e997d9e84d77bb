"""The learner thought: CPU time in other threads is work that they took over."""

MISCONCEPTION = "spinning-is-work"
TELL = (
    "You take all CPU time of others for work. A thread may burn it in vain, with every knob at 1 too: what a "
    "knob does is what comes on top of measure()."
)


def classify_parallelism(measure):
    for knob in ("openmp", "blas"):
        if measure(**{knob: 2}).elsewhere > 0.2:
            return knob
    both = measure(n_jobs=2)
    if both.elsewhere < 0.2:
        return "serial"
    return "processes" if both.children > both.helpers else "threads"
