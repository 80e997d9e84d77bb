"""The learner thought: scikit-learn has OpenMP and n_jobs."""

MISCONCEPTION = "knob-forgotten"


def classify_parallelism(measure):
    alone = measure().elsewhere
    if measure(openmp=2).elsewhere - alone > 0.2:
        return "openmp"
    run = measure(n_jobs=2)
    if run.elsewhere - alone < 0.2:
        return "serial"
    return "processes" if run.children > run.helpers else "threads"
