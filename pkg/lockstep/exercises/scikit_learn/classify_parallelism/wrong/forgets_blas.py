"""The learner thought: scikit-learn has OpenMP and n_jobs."""

MISCONCEPTION = "knob-forgotten"
TELL = (
    "A fit that BLAS makes parallel is serial for you. Turn up BLAS alone, too, and compare: each knob needs a "
    "measurement of its own."
)


def classify_parallelism(measure):
    alone = measure().elsewhere
    if measure(openmp=2).elsewhere - alone >= 0.25:
        return "openmp"
    run = measure(n_jobs=2)
    if run.elsewhere - alone < 0.25:
        return "serial"
    return "processes" if run.children > run.helpers else "threads"
