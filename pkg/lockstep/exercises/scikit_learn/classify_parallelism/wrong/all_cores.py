"""The learner thought: -1 means all the cores here too."""

MISCONCEPTION = "crashed:RankRaised"


def classify_parallelism(measure):
    alone = measure().elsewhere
    for knob in ("openmp", "blas"):
        if measure(**{knob: 2}).elsewhere - alone >= 0.25:
            return knob
    used = measure(n_jobs=-1)
    if used.elsewhere - alone < 0.25:
        return "serial"
    return "processes" if used.children > used.helpers else "threads"
