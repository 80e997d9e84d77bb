"""The learner thought: helpers are processes that help, children are the threads of this one."""

MISCONCEPTION = "exchanged"
TELL = "You have threads and processes exchanged: work of threads is in .helpers, that of processes in .children."


def classify_parallelism(measure):
    alone = measure().elsewhere
    for knob in ("openmp", "blas"):
        if measure(**{knob: 2}).elsewhere - alone >= 0.25:
            return knob
    used = measure(n_jobs=2)
    if used.elsewhere - alone < 0.25:
        return "serial"
    return "processes" if used.helpers > used.children else "threads"
