"""The learner thought: a knob that moves 0.25 exactly does not count."""

MISCONCEPTION = "more-than-the-limit"
TELL = "A fit whose knob moves exactly 0.25 of the CPU time is serial for you. A knob counts from 0.25 on: write >=, not >."


def classify_parallelism(measure):
    before = measure()
    for knob in ("openmp", "blas"):
        if measure(**{knob: 2}).elsewhere - before.elsewhere > 0.25:
            return knob
    used = measure(n_jobs=2)
    if used.elsewhere - before.elsewhere <= 0.25:
        return "serial"
    return "processes" if used.children - before.children > used.helpers - before.helpers else "threads"
